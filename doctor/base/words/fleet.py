"""What is told of many nodes."""

from __future__ import annotations

WORDS = {
    "state:scanned": ("scanned", "已扫描"),
    "state:partial": ("partial", "部分"),
    "state:failed": ("failed", "失败"),
    "state:timed out": ("timed out", "超时"),
    "state:unreachable": ("unreachable", "无法连接"),
    "state:refused": ("refused", "被拒绝"),
    "not-all": ("what {count} of the nodes would tell: {rows}", "{count} 个节点的信息：{rows}"),
    "no-logs-of": ("nothing was read of rank {ranks}", "没有读到 rank {ranks} 的日志"),
    "ask-again": ("npu-doctor fleet scan --resume    # asks only these again", "npu-doctor fleet scan --resume    # 只重新询问这些节点"),
    "progress": ("{done}/{all} nodes  {failing} failing  {running} running  {waiting} waiting  {received} received", "{done}/{all} 个节点  失败 {failing}  进行中 {running}  等待 {waiting}  已收 {received}"),
    "through": ("npu-doctor: {count} of them through {gateways} gateways", "npu-doctor: 其中 {count} 个经由 {gateways} 个网关"),
    "asking": ("npu-doctor: asking {count} nodes via {via}, {fanout} at once, {seconds} s each", "npu-doctor: 通过 {via} 询问 {count} 个节点，同时 {fanout} 个，每个 {seconds} 秒"),
    "row": ("{state} {count}: {names}", "{state} {count}: {names}"),
    "traffic": ("received {received} ({each} a node), sent {sent}", "收到 {received}（每节点 {each}），发送 {sent}"),
    "kept": ("npu-doctor: what came is in {folder}", "npu-doctor: 结果在 {folder}"),
    "resume": ("npu-doctor fleet {what} --resume {folder}    # asks only those that are missing", "npu-doctor fleet {what} --resume {folder}    # 只重新询问缺失的节点"),
    "same-files": ("npu-doctor: {names} read the same files: a folder that they share is better scanned once, with npu-doctor scan", "npu-doctor: {names} 读取了相同的文件：共享目录请用 npu-doctor scan 扫描一次"),
    "stopped": ("npu-doctor: stopped, {count} nodes were not asked to the end", "npu-doctor: 已停止，{count} 个节点没有问完"),
    "smi-head": ("{cards} cards on {nodes} nodes, {odd} stand out", "{nodes} 个节点，{cards} 张卡，{odd} 张异常"),
    "smi-rest": ("{cards} cards are fine ({names}): {temp} °C, HBM {hbm}%", "{cards} 张卡正常（{names}）：{temp} °C，HBM {hbm}%"),
    "smi-more": ("... and {cards} more that stand out (-f json shows all)", "…… 另有 {cards} 张异常（-f json 显示全部）"),
    "smi-health": ("health {health}", "健康状态 {health}"),
    "smi-hot": ("{temp} °C, the others about {usual}", "{temp} °C，其他卡约 {usual}"),
    "smi-held": ("{held}% of its HBM held, and no process", "没有进程却占用 {held}% HBM"),
    "smi-none": ("no cards: {state}", "没有卡：{state}"),
    "smi-missing": ("npu-smi misses NPU {missing}", "npu-smi 缺少 NPU {missing}"),
    "smi-fewer": ("{count} cards, the others {usual}", "{count} 张卡，其他节点 {usual} 张"),
    "one-alone": ("npu-doctor: only one node answered, and one alone differs from nothing", "npu-doctor: 只有一个节点回答，无从比较"),
}  # fmt: skip
