"""Faults that no entry knows: each a few lines of the node where it happens, and what the others say because of it.

Every line is a wording with slots that are drawn for each occurrence. Rankings may be worked out on STRANGE and FRESH;
UNSEEN is kept apart, for the figures that are told.
"""

from __future__ import annotations

from typing import NamedTuple


class Strange(NamedTuple):
    """`says`: (level, line) of the rank or of the node's own log; `times`: how often the burst comes; `others`: of peers, later."""

    name: str
    where: str  # rank: one process; node: its daemon's file
    times: tuple[int, int]
    says: tuple[tuple[str, str], ...]
    others: tuple[tuple[str, str], ...] = ()


def _fault(name: str, where: str, times: tuple[int, int], says: str, others: str = "") -> Strange:
    def rows(text: str) -> tuple[tuple[str, str], ...]:
        return tuple((level, line) for row in text.strip().splitlines() for level, _, line in (row.strip().partition(" "),)) if text.strip() else ()

    return Strange(name, where, times, rows(says), rows(others))


STRANGE = (
    _fault("scrubber", "node", (3, 9), """
        WARNING memscrub lane {d} paused, backpressure {pct} percent
        INFO memscrub rescheduled {n} pages to lane {d}
        ERROR memscrub lane {d} gave no answer within {n} ms
    """, "WARNING collective ring {d} leans on a slow neighbour, {n} us behind"),
    _fault("clock", "rank", (2, 6), """
        WARNING ptp follower drifted {n} us, holding timestamps
        ERROR watch: monotonic jump of {n} ns seen by sampler {d}
    """),
    _fault("tokenizer", "rank", (1, 3), """
        ERROR vocabulary shard {d} answers with checksum {hex}, manifest has {hex}
        ERROR sample {n} decodes to an empty sequence, batch abandoned
    """, "ERROR peer left the loader barrier early, epoch cannot be closed"),
    _fault("cable", "node", (5, 30), """
        INFO optical lane {d} bias {n} uA, margin {f} dB
        WARNING serdes {d} retrained after {n} symbol slips
    """, "WARNING chunk {n} arrived in {n} ms, budget was {n} ms"),
    _fault("quota", "node", (1, 4), """
        WARNING scratch volume answered with quota class {d}, writes are parked
        ERROR shard writer {d} parked for {n} s, giving its lease back
    """),
    _fault("moe", "rank", (3, 12), """
        WARNING expert {d} received {n} tokens, capacity {n}, spilling
        ERROR dispatcher found {n} orphan tokens after combine
    """, "ERROR combine expected {n} tokens of peer, saw none"),
    _fault("cgroup", "node", (2, 6), """
        INFO slice agent shrank cpu window to {pct} percent
        WARNING pinned thread {n} starved for {n} ms
    """, "WARNING step {n} waited {n} ms for the slowest member"),
    _fault("weights", "rank", (1, 2), """
        ERROR tensor blocks.{d}.mlp.w{d} came back with stride {n}, plan says {n}
        ERROR restore plan abandoned at block {d}
    """, "ERROR restore aborted on behalf of another member"),
    _fault("firmware", "node", (1, 3), """
        WARNING mgmt controller answered opcode {hex} with class {d}
        ERROR power island {d} refuses to leave retention
    """, "ERROR queue {d} closed by remote side, {n} descriptors flushed"),
    _fault("cache", "rank", (4, 20), """
        INFO prefix tree pruned {n} leaves under pressure
        WARNING block table {d} points past its arena by {n}
    """),
    _fault("rope", "rank", (1, 3), """
        ERROR rotary table ends at {n}, position {n} was asked
        WARNING logits of row {d} are flat, sampling greedily
    """),
    _fault("licence", "node", (1, 2), """
        WARNING seat broker has no seats for feature {d}
        ERROR compiler service leaves, seat was revoked
    """, "ERROR operator {n} has no binary and the service is gone"),
    _fault("shm", "node", (2, 5), """
        WARNING ring segment {hex} is {n} pages shorter than agreed
        ERROR producer {d} overran segment {hex}
    """),
    _fault("optimizer", "rank", (2, 8), """
        WARNING second moment of group {d} is negative at {n} places
        ERROR update of group {d} withheld, norm ratio {f}
    """, "WARNING replica digest differs in group {d}: {hex} against {hex}"),
    _fault("quiet-rank", "rank", (1, 1), """
        INFO sampler {d} entered state DRAINING on request of controller
    """, "ERROR round {n} closed without member, {n} ms over budget"),
    _fault("counter", "node", (20, 60), """
        INFO page mover relocated {n} hot pages
        INFO page mover pass {n} took {n} ms
    """),
)  # fmt: skip

FRESH = (
    _fault("dpu", "node", (2, 6), """
        WARNING offload card {d} answers with epoch {n}, host is at {n}
        ERROR offload card {d} detached, flows are handled in software
    """, "WARNING gradient bucket {d} took {n} ms on the wire, usual is {n}"),
    _fault("pager", "node", (3, 10), """
        INFO balloon driver returned {n} pages to the hypervisor
        WARNING resident set of trainer shrank below its floor by {n} MiB
    """),
    _fault("dataset", "rank", (1, 4), """
        ERROR record {n} of shard {d} has {n} fields where schema lists {n}
        ERROR reader {d} hands in its cursor at {n}
    """, "ERROR iterator of a sibling ended, stopping before the next microbatch"),
    _fault("scheduler", "rank", (2, 8), """
        WARNING admission ledger is {n} entries ahead of the executor
        WARNING victim {n} was preempted twice within one tick
        ERROR ledger and executor part ways at ticket {n}
    """),
    _fault("switch", "node", (4, 20), """
        INFO fabric agent moved {n} flows off plane {d}
        WARNING plane {d} weight set to {pct}
    """, "WARNING alltoall phase {d} stretched to {n} ms"),
    _fault("precision", "rank", (2, 6), """
        WARNING accumulator saturates in tile {d} of gemm {hex}
        ERROR loss gate opened at {n}: value {f} outside of corridor
    """, "WARNING reduced value {f} came from an uneven set of members"),
    _fault("mount", "node", (1, 4), """
        ERROR object gateway answered {d} of {n} parts, rest is sealed
        WARNING manifest of step {n} lists parts that nobody wrote
    """, "ERROR snapshot voted down, {n} of {n} members agree"),
    _fault("thermal", "node", (3, 15), """
        INFO vapor loop {d} flow is {f} l per min
        WARNING inlet probe {d} reads {n} mK over the envelope
    """, "INFO clock governor of a sibling asked for {n} MHz"),
    _fault("kernel-cache", "rank", (1, 3), """
        ERROR cached binary {hex} was built for stepping {d}, silicon says {d}
        WARNING falling back to interpreted schedule for {n} nodes
    """),
    _fault("handshake", "node", (2, 5), """
        WARNING rendezvous ticket {hex} presented twice
        ERROR rendezvous evicts holder of ticket {hex}
    """, "ERROR generation {n} dissolved, a holder was evicted"),
    _fault("pinned", "node", (1, 3), """
        WARNING registration cache holds {n} stale keys
        ERROR key {hex} resolves to a region that was handed back
    """, "ERROR remote key rejected, completion {n} carries class {d}"),
    _fault("draft", "rank", (5, 25), """
        INFO draft model proposes {n} tokens, {d} survive
        WARNING verifier throws away window {n}
    """),
    _fault("router", "rank", (2, 7), """
        WARNING gate entropy {f} in layer {d}, all traffic goes to one expert
        ERROR layer {d} receives no gradient for {n} experts
    """),
    _fault("asleep", "rank", (1, 1), """
        INFO worker obeys hold order {n} of the arbiter
    """, "ERROR quorum of tick {n} not reached, {n} ms past deadline"),
    _fault("numa", "node", (10, 40), """
        INFO rebalance daemon migrated trainer thread {n} to cell {d}
    """),
    _fault("token", "node", (1, 3), """
        WARNING credential of mount {d} ends in {n} s and nobody renews it
        ERROR mount {d} went read only, credential is over
    """, "WARNING write of shard {d} postponed by its owner"),
)  # fmt: skip

UNSEEN = (
    _fault("bmc", "node", (2, 7), """
        WARNING bmc reports rail {d} at {n} mV, nominal is {n} mV
        ERROR rail {d} tripped, accelerators {d} and {d} go down with it
    """, "ERROR stream {n} saw its counterpart vanish during phase {d}"),
    _fault("gather", "rank", (2, 6), """
        WARNING embedding row {n} lies outside of table {d}
        ERROR lookup {hex} touched {n} rows that nobody owns
    """),
    _fault("collator", "rank", (1, 4), """
        WARNING packed batch {n} has no target positions
        ERROR collator refuses batch {n}, mask is all ones
    """, "WARNING microbatch {n} came with weight zero from one member"),
    _fault("vlan", "node", (3, 12), """
        INFO bond{d} moved to backup port after {n} ms of silence
        WARNING bond{d} hashes all flows to port {d}
    """, "WARNING bucket {n} needed {n} ms, the ring is uneven"),
    _fault("inode", "node", (1, 4), """
        WARNING scratch has {n} inodes left of {n}
        ERROR creating part {n} returned class {d}, job keeps old parts
    """),
    _fault("lora", "rank", (2, 8), """
        WARNING adapter slot {d} was bound while its weights were moving
        ERROR adapter slot {d} serves rank {n} where rank {n} is declared
    """),
    _fault("timer", "node", (8, 30), """
        INFO tickless guard migrated {n} timers off core {d}
        INFO core {d} left isolation for {n} ms
    """),
    _fault("graph", "rank", (1, 3), """
        WARNING captured graph {hex} refers to {n} addresses that moved
        ERROR replay {n} of graph {hex} abandoned at node {n}
    """, "ERROR lockstep of replay {n} lost, one member has abandoned it"),
    _fault("sidecar", "node", (2, 6), """
        WARNING sidecar takes {pct} percent of core {d}, its share is {pct}
        WARNING sidecar restarts for the {d} time within {n} s
    """, "INFO step {step} took {n} ms longer than the moving mean"),
    _fault("rng", "rank", (1, 4), """
        WARNING generator state {hex} occurs in two members
        ERROR dropout masks of layer {d} coincide with a sibling
    """),
    _fault("hold", "rank", (1, 1), """
        INFO member parks itself, coordinator epoch {n} is unknown to it
    """, "ERROR barrier {n} has one empty chair after {n} ms"),
    _fault("kvmove", "rank", (3, 15), """
        WARNING transfer of block {n} acknowledged with length {n} instead of {n}
        ERROR pulled block {n} carries digest {hex}, pushed was {hex}
    """, "WARNING producer side sees request {n} come back for more"),
    _fault("sysfs", "node", (1, 3), """
        WARNING power profile of card {d} went from performance to balanced
        INFO governor accepted profile balanced for {n} cards
    """, "WARNING matmul of shape {n} runs at {pct} percent of its roofline"),
    _fault("audit", "node", (20, 60), """
        INFO audit rule {d} recorded {n} opens of the trainer
    """),
)  # fmt: skip
