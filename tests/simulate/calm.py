"""Logs in which all is well, or which are none of ours: every kind of file that lies beside the logs of a job.

A kind is a file name, a way of writing the time, and the lines that such a file holds, the frightening ones above all. The
numbers in them are drawn, and many of them happen to be error codes of the NPU stack: what counts something is no code.
"""

from __future__ import annotations

import random
from typing import NamedTuple

CODES = ("107002", "161002", "200000", "207001", "300000", "500000", "507011", "507018", "507035", "561103")


class Kind(NamedTuple):
    """What a file of one kind is made of."""

    path: str
    stamp: str
    lines: tuple[str, ...]


def kind(path: str, stamp: str, lines: str) -> Kind:
    return Kind(path, stamp, tuple(line.strip() for line in lines.strip().splitlines()))


SYSLOG = "Jan 13 {h}:{m}:{s} node-{d} "
DMESG = "[{n4}.{code}] "
ISO = "2026-01-13T{h}:{m}:{s}.{ms}Z "
PYTHON = "2026-01-13 {h}:{m}:{s},{ms} "
KLOG = "0113 {h}:{m}:{s}.{code} {pid} "

KINDS: dict[str, Kind] = {
    "syslog": kind("var/log/messages", SYSLOG, """
        udisksd[{pid}]: failed to load module mdraid: libbd_mdraid.so.2: cannot open shared object file: No such file or directory
        udisksd[{pid}]: Failed to load the 'mdraid' libblockdev plugin
        sshd[{pid}]: PAM unable to dlopen(pam_fprintd.so): /usr/lib64/security/pam_fprintd.so: cannot open shared object file: No such file or directory
        sshd[{pid}]: error: maximum authentication attempts exceeded for root from {ip} port {port} ssh2 [preauth]
        sshd[{pid}]: Received signal 15; terminating.
        sshd[{pid}]: Connection reset by {ip} port {port} [preauth]
        sshd[{pid}]: fatal: Timeout before authentication for {ip} port {port}
        systemd[1]: Started Session {code} of user root.
        systemd[1]: tuned.service: Failed with result 'timeout'.
        systemd[1]: kdump.service: Main process exited, code=exited, status=1/FAILURE
        systemd[1]: user@0.service: Killing process {pid} (systemctl) with signal SIGKILL.
        systemd-journald[{pid}]: Received SIGTERM from PID 1 (systemd).
        systemd-journald[{pid}]: Suppressed {code} messages from user.slice
        systemd-udevd[{pid}]: Process '/usr/bin/true' failed with exit code 1.
        NetworkManager[{pid}]: <warn>  [{n4}.{code}] device (eth{d}): carrier: link disconnected (deferring action for 4 seconds)
        NetworkManager[{pid}]: <info>  [{n4}.{code}] device (eth{d}): carrier: link connected
        chronyd[{pid}]: Can't synchronise: no selectable sources
        chronyd[{pid}]: System clock wrong by 0.{code} seconds
        dbus-daemon[{pid}]: [system] Activation via systemd failed for unit 'dbus-org.bluez.service': Unit not found.
        rngd[{pid}]: Error reading from entropy source
        auditd[{pid}]: Audit daemon rotating log files
        crond[{pid}]: (root) CMD (run-parts /etc/cron.hourly)
        irqbalance[{pid}]: Cannot change IRQ {n3} affinity: Input/output error
        rsyslogd[{pid}]: imjournal: {code} messages lost due to rate-limiting
        dockerd[{pid}]: time="2026-01-13T{h}:{m}:{s}Z" level=warning msg="failed to retrieve runc version: signal: killed"
        kernel: [{n4}.{code}] perf: interrupt took too long (2501 > 2500), lowering kernel.perf_event_max_sample_rate to 79750
    """),
    "dmesg": kind("dmesg.txt", DMESG, """
        ACPI Error: No handler for Region [POWR] (00000000{n4}) [IPMI] (20220331/evregion-130)
        ACPI BIOS Error (bug): Could not resolve symbol [_SB.PCI0], AE_NOT_FOUND
        ERST: Error Record Serialization Table (ERST) support is initialized.
        HEST: Enabling Firmware First mode for corrected errors.
        GHES: APEI firmware first mode is enabled by APEI bit and WHEA _OSC.
        EDAC MC{d}: 1 CE memory read error on CPU_SrcID#0_Channel#1_DIMM#0 (channel:1 slot:0)
        pcieport 0000:80:00.0: AER: Corrected error message received from 0000:81:00.0
        pcieport 0000:80:00.0: PME: Signaling with IRQ {n3}
        pci 0000:7d:00.0: BAR 13: failed to assign [io  size 0x1000]
        platform regulatory.0: Direct firmware load for regulatory.db failed with error -2
        cfg80211: failed to load regulatory.db
        hisi_sas_v3_hw 0000:74:02.0: erroneous completion iptt={n3} task=pK dev id={d} CQ hdr: 0x1003
        nvme nvme{d}: Identify Descriptors failed (nsid=1, status=0x4002)
        mlx5_core 0000:81:00.0: tx hwts timeout, fallback to software time stamps
        mlx5_core 0000:81:00.0 eth{d}: Link up
        hns3 0000:bd:00.0 eth{d}: link down
        hns3 0000:bd:00.0 eth{d}: link up
        watchdog: enabled, threshold 10 s
        softlockup: watchdog set up on cpu {n3}
        usb 1-1: device descriptor read/64, error -110
        random: crng init done
        kauditd_printk_skb: {n3} callbacks suppressed
        TCP: request_sock_TCP: Possible SYN flooding on port {port}. Sending cookies.
        nf_conntrack: default automatic helper assignment has been turned off
        x86/mtrr: mtrr_cleanup: can not find optimal value
        EXT4-fs (sda2): re-mounted. Opts: errors=remount-ro
        Memory: {code}K/{code}K available
    """),
    "sysctl": kind("sos_commands/kernel/sysctl_-a", "", """
        fs.inotify.max_user_instances = 8192
        fs.inotify.max_user_watches = {code}
        kernel.hung_task_timeout_secs = 120
        kernel.panic_on_oops = 1
        kernel.panic_on_oom = 0
        kernel.softlockup_panic = 0
        kernel.hardlockup_panic = 1
        kernel.core_pattern = |/usr/lib/systemd/systemd-coredump %P %u %g %s %t 9223372036854775808 %h
        net.ipv4.tcp_retries2 = 15
        net.core.rmem_max = {code}
        net.ipv4.tcp_abort_on_overflow = 0
        vm.overcommit_memory = 0
        vm.oom_kill_allocating_task = 0
        vm.memory_failure_recovery = 1
        vm.memory_failure_early_kill = 0
        kernel.pid_max = 4194304
    """),
    "units": kind("sos_commands/systemd/systemctl_cat", "", """
        [Service]
        KillMode=mixed
        KillSignal=SIGTERM
        SendSIGKILL=yes
        FinalKillSignal=SIGKILL
        RestartForceExitStatus=SIGPIPE
        SuccessExitStatus=143
        TimeoutStopSec={n3}
        OOMScoreAdjust=-500
        OOMPolicy=continue
        ExecStop=/bin/kill -s TERM $MAINPID
        LimitCORE=infinity
        WatchdogSignal=SIGABRT
        StartLimitBurst=3
    """),
    "journal": kind("journal.txt", "2026-01-13T{h}:{m}:{s}+0800 ", """
        node-{d} systemd[1]: nginx.service: Main process exited, code=killed, status=15/TERM
        node-{d} systemd[1]: docker.service: State 'stop-sigterm' timed out. Killing.
        node-{d} systemd[1]: backup.service: Main process exited, code=exited, status=143/n/a
        node-{d} systemd[1]: Stopping OpenSSH server daemon...
        node-{d} haproxy[{pid}]: [WARNING] (1) : Exiting Master process...
        node-{d} haproxy[{pid}]: Server pool/web{d} is DOWN, reason: Layer4 timeout, check duration: 2001ms.
        node-{d} keepalived[{pid}]: Received SIGTERM, stopping
        node-{d} etcd[{pid}]: received SIGTERM indicating exit request
        node-{d} snmpd[{pid}]: error on subcontainer 'ia_addr' insert (-1)
        node-{d} ipmievd[{pid}]: Power Supply sensor - Redundancy Lost, deasserted
        node-{d} smartd[{pid}]: Device: /dev/sda [SAT], SMART Usage Attribute: 1 Raw_Read_Error_Rate changed from 82 to 83
    """),
    "kubelet": kind("kubelet.log", "", """
        I0113 {h}:{m}:{s}.{code} {pid} kubelet.go:2113] "SyncLoop UPDATE" source="api" pods=["default/train-{d}"]
        W0113 {h}:{m}:{s}.{code} {pid} watcher.go:93] Error while processing event ("/sys/fs/cgroup/memory/system.slice": 0x40000100 == IN_CREATE|IN_ISDIR): inotify_add_watch /sys/fs/cgroup/memory/x: no such file or directory
        E0113 {h}:{m}:{s}.{code} {pid} controller.go:187] failed to update lease, error: Operation cannot be fulfilled on leases.coordination.k8s.io "node-{d}": the object has been modified
        I0113 {h}:{m}:{s}.{code} {pid} prober.go:107] "Probe failed" probeType="Readiness" pod="default/web-{d}" probeResult=failure output="HTTP probe failed with statuscode: 503"
        I0113 {h}:{m}:{s}.{code} {pid} kuberuntime_container.go:720] "Killing container with a grace period" pod="default/web-{d}" gracePeriod=30
        W0113 {h}:{m}:{s}.{code} {pid} reflector.go:424] failed to list *v1.Service: Get "https://{ip}:6443/api": net/http: TLS handshake timeout
        I0113 {h}:{m}:{s}.{code} {pid} image_gc_manager.go:310] "Disk usage on image filesystem is over the high threshold, trying to free bytes" bytes={code}
        I0113 {h}:{m}:{s}.{code} {pid} trace.go:219] Trace[{code}]: "List(recursive=true) etcd3" total time: 507ms
    """),
    "nginx-access": kind("nginx/access.log", "", """
        {ip} - - [13/Jan/2026:{h}:{m}:{s} +0800] "POST /v1/chat/completions HTTP/1.1" 200 {code} "-" "python-requests/2.32"
        {ip} - - [13/Jan/2026:{h}:{m}:{s} +0800] "GET /error?code=4 HTTP/1.1" 404 {code} "-" "curl/8.5"
        {ip} - - [13/Jan/2026:{h}:{m}:{s} +0800] "GET /status HTTP/1.1" 500 {code} "https://example.org/errors" "Mozilla/5.0"
        {ip} - - [13/Jan/2026:{h}:{m}:{s} +0800] "GET /health HTTP/2.0" 499 0 "-" "kube-probe/1.28" rt=0.{code}
    """),
    "nginx-error": kind("nginx/error.log", "2026/01/13 {h}:{m}:{s} ", """
        [error] 31#31: *{code} upstream timed out (110: Connection timed out) while reading response header from upstream, client: {ip}
        [error] 31#31: *{code} connect() failed (111: Connection refused) while connecting to upstream, client: {ip}
        [warn] 31#31: *{code} a client request body is buffered to a temporary file /var/cache/nginx/{code}
        [notice] 1#1: signal 15 (SIGTERM) received from 1, exiting
        [notice] 1#1: signal 17 (SIGCHLD) received from {n3}
        [crit] 31#31: *{code} SSL_do_handshake() failed (SSL: error:0A00006C:SSL routines::bad key share) while SSL handshaking
        [info] 31#31: *{code} client prematurely closed connection
    """),
    "cuda-training": kind("train_cuda.log", PYTHON, """
        - INFO - step {n4} loss 2.{n3} grad_norm 0.{n3} tokens {code}
        - WARNING - NCCL version 2.20.5+cuda12.4
        - INFO - node-{d}:{pid}:{pid} [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM
        - INFO - [rank{d}]:[W{n4}] Warning: barrier(): No device id is provided
        - WARNING - Gradient overflow. Skipping step, loss scaler 0 reducing loss scale to 32768.0
        - INFO - saved checkpoint of {code} parameters in {n3} s
        - INFO - eval: error rate 0.{n3}, failed 0 of {code}
        - INFO - dataloader retried {d} times, timeout 0
        - INFO - torch.cuda.max_memory_allocated {code} bytes
    """),
    "rocm": kind("train_rocm.log", PYTHON, """
        INFO rocm-smi: GPU[{d}] : Temperature (C): 61
        INFO step {n4} loss 1.{n3} lr 0.0001 samples {code}
        WARNING MIOpen(HIP): Warning [IsEnoughWorkspace] Solver <GemmFwdRest>, workspace required: {code}, provided ptr: 0 size: 0
        INFO RCCL INFO comm 0x5581 rank {d} nranks 8 cudaDev {d} - Init COMPLETE
        INFO hipErrorNoBinaryForGpu tests: 0 failed, {n3} passed
    """),
    "ci": kind("ci/build.log", ISO, """
        -- Performing Test HAVE_STD_REGEX -- failed to compile
        -- Could NOT find CUDA (missing: CUDA_TOOLKIT_ROOT_DIR)
        -- Looking for pthread_create in pthreads - not found
        tests/test_runtime.py::test_out_of_memory_{n3} PASSED [ {d}0%]
        tests/test_errors.py::test_device_lost_error_code_{code} PASSED
        tests/test_hccl.py::test_notify_wait_timeout SKIPPED (needs a device)
        src/main.cc:{n3}:9: warning: unused variable 'ret' [-Wunused-variable]
        make[2]: [Makefile:{n3}: clean] Error 1 (ignored)
        ##[group]Run actions/checkout@v4
        ##[warning]Node.js 16 actions are deprecated
        fatal: not a git repository (or any of the parent directories): .git
        {code} passed, {n3} skipped, 2 xfailed in {n3}.{d}1s
        Cache not found for input keys: Linux-pip-{code}
        npm warn deprecated inflight@1.0.6: This module is not supported, and leaks memory.
        retrying in {d} s (attempt 2 of 3): 502 Bad Gateway
    """),
    "config-log": kind("config.log", "", """
        configure:{n4}: checking for strtoll
        conftest.c:{n3}:10: fatal error: minix/config.h: No such file or directory
        configure:{n4}: $? = 1
        configure: failed program was:
        conftest.c:{n3}:1: error: unknown type name 'choke'
        | /* Define to 1 if you have the <inttypes.h> header file. */
        configure:{n4}: result: no
        configure:{n4}: gcc -o conftest -g -O2 conftest.c -lsocket >&5
        configure: exit 0
    """),
    "pip": kind("pip.log", "", """
        Collecting numpy<2
        Requirement already satisfied: attrs in /usr/lib/python3.11/site-packages (23.2.0)
        WARNING: Running pip as the 'root' user can result in broken permissions
        WARNING: Retrying (Retry(total=4, connect=None, read=None)) after connection broken by 'ReadTimeoutError("HTTPSConnectionPool(host='pypi.org', port=443): Read timed out. (read timeout=15)")'
        Downloading exceptiongroup-1.2.{d}-py3-none-any.whl (16 kB)
        Downloading retrying-1.3.{d}-py3-none-any.whl
        Building wheel for pyerrors (pyproject.toml): finished with status 'done'
        Successfully installed tenacity-8.{d} errorhandler-2.{d}
    """),
    "long-training": kind("train.log", PYTHON, """
        - INFO - iteration {n4}/ 200000 | consumed samples: {code} | elapsed time per iteration (ms): 701.0 | lm loss: 2.{n3} | loss scale: 1.0 | grad norm: 0.808 | number of skipped iterations:   0 | number of nan iterations:   0 |
        - WARNING - loss scale overflow at step {n4}, skipping this step; attempted loss scale 65536, reducing to 32768
        - INFO - HCCL_EXEC_TIMEOUT=1800 HCCL_CONNECT_TIMEOUT=600 watchdog enabled
        - INFO - saving checkpoint at iteration {n4} to /data/ckpt (failed uploads: 0, retries: {d})
        - INFO - error budget {code} ms, retry budget {code} ms
        - WARNING - UserWarning: The operator aten::_pin_memory is not currently supported on the NPU backend and will fall back to run on the CPU
        - INFO - data loader worker {d} restarted after idle timeout
        - INFO - evaluation: 0 errors, result: {code} samples
        - INFO - memory allocated 48211.{n3} MB reserved 52000 MB max {code}
        - INFO - straggler check: rank {d} is 3.1% slower than the median
        - INFO - [before the start of training step] datetime: 2026-01-13 {h}:{m}:{s}
        - INFO - resuming from /data/ckpt/iter_{n4}; optimizer state found
    """),
    "vllm-soak": kind("serve.log", "", """
        INFO 01-13 {h}:{m}:{s} [loggers.py:116] Engine 000: Avg prompt throughput: {n3}.1 tokens/s, Running: {d} reqs, Waiting: 0 reqs, GPU KV cache usage: 12.{d}%
        WARNING 01-13 {h}:{m}:{s} [platform.py:69] Failed to import from vllm._C with ModuleNotFoundError("No module named 'vllm._C'")
        INFO 01-13 {h}:{m}:{s} [async_llm.py:420] Aborted request chatcmpl-{code}.
        WARNING 01-13 {h}:{m}:{s} [scheduler.py:1051] Request chatcmpl-{code} is preempted by PreemptionMode.RECOMPUTE
        INFO:     {ip}:{port} - "POST /v1/chat/completions HTTP/1.1" 400 Bad Request
        INFO:     {ip}:{port} - "GET /v1/models HTTP/1.1" 200 OK
        INFO 01-13 {h}:{m}:{s} [serving_chat.py:200] max_tokens {code} clipped to 4096
        [WARNING] ASCENDCL({pid},python3.11):2026-01-13-{h}:{m}:{s}.118.340 [model_ri.cpp:318]{pid} aclmdlRICaptureThreadExchangeModeImpl: exchange capture mode failed, runtime result = 207000
        INFO 01-13 {h}:{m}:{s} [model_runner_v1.py:3502] Graph capturing finished in {d} secs
    """),
    "sglang-soak": kind("sglang.log", "[2026-01-13 {h}:{m}:{s}] ", """
        WARNING registry.py:94: Ignore import error when loading sglang.srt.models.qwen{d}: No module named 'sgl_kernel_npu'
        WARNING registry.py:94: Ignore import error when loading sglang.srt.models.kimi{d}: No module named 'mindspeed'
        WARNING registry.py:94: Ignore import error when loading sglang.srt.models.glm{d}: No module named 'acl'
        Decode batch, #running-req: {d}, #token: {code}, token usage: 0.12, gen throughput (token/s): 512.1
        Prefill batch, #new-seq: 1, #new-token: {n4}, #cached-token: {code}
        INFO: {ip}:{port} - "POST /generate HTTP/1.1" 499
        KV cache pool is full. Retract requests. #retracted_reqs: 1
    """),
    "mindie": kind("mindie.log", "[2026-01-13 {h}:{m}:{s}.{code}] [{pid}] [{pid}] ", """
        [server] [INFO] [http_handler.cpp:{n3}] request {code} finished, ret is 0, tokens {code}
        [server] [WARN] [http_handler.cpp:{n3}] request {code} was cancelled by the client
        [llm] [INFO] [scheduler.cpp:{n3}] free blocks {code}, failed 0, timeout 0
        [ms_controller] [INFO] [heartbeat.cpp:{n3}] heartbeat of node {ip} ok, lost 0
    """),
    "plog-run": kind("plog/run/plog-{pid}_20260113080001000.log", "", """
        [INFO] HCCL({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [op_base.cc:10] [{code}][TaskExecStage]entry, timeout[1800 s], ret[0]
        [INFO] RUNTIME({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [stream.cc:1402]{code} SynchronizeStream: error code is 0
        [EVENT] HCCL({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [hccl_comm.cc:33] [{code}]retry enable 0, exec timeout 1800
        [WARNING] RUNTIME({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [api_error.cc:77]{code} feature not support on this chip, go on, ret=207000
        [WARNING] GE({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [graph.cc:7]{code} op has no tiling cache, error code 561103 ignored
        [INFO] DRV({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [devmm.c:7]{code} svm size {code}, fault pages 0, ecc 0
        [INFO] TDT({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [queue.cc:7]{code} GetNext timeout value is 0 s
        [INFO] HCCL({pid},python):2026-01-13-{h}:{m}:{s}.001.001 [exchanger_network.cc:240] [{pid}][Wait][AllClientSocketEstab]client : device[1] rank[1] all sockets established
    """),
    "device-log": kind("slog/dev-os-0/run/device-os/device-os_20260113.log", "", """
        [EVENT] IMP(-2,IMP): 2026-01-13-{h}:{m}:{s}.994.702 70 (device_id:{d} die_id:0) [IMP] present 1, mac_link 1, pcs_link 1, rf_lf 0, pcs_err_cnt 0, pcs_64_66b {code}
        [INFO] KERNEL(1204,sklogd):2026-01-13-{h}:{m}:{s}.643.290 [klogd.c:247][ {n3}.310] EDAC DEBUG: scrub done, {code} pages
        [INFO] TSCH(-1,null):2026-01-13-{h}:{m}:{s}.201.660 91 (dieid:0,cpuid:0) hwts_stat.c:31 statistics: sdma error count 0, aicore error count 0, timeout count 0
        [EVENT] LP(-1,lp):2026-01-13-{h}:{m}:{s}.201.660 temp 51, power 93, throttle 0
    """),
    "npu-smi-queries": kind("npu-smi.txt", "", """
        NPU ID                         : {d}
        Health Status                  : OK
        Error Code                     : NA
        Error Information              : NA
        HBM Single Bit Error Cnt       : 0
        HBM Double Bit Error Cnt       : 0
        HBM Single Bit Isolated Pages  : 0
        Temperature (C)                : 4{d}
        Chip Fault                     : 0
    """),
    "hccn": kind("hccn.txt", "", """
        link status: UP
        tls switch[1](1:enable, 0:disable), tls preconfigured[1](0:non-preset, 1:preset), tls alarm time threshold[60]days
        roce_rx_err_pkt_num:0
        roce_tx_err_pkt_num:0
        roce_new_pkt_rty_num:0
        mac_rx_fcs_err_pkt_num:0
        mac_tx_total_pkt_num:{code}
        net health status: Success
    """),
    "postgres": kind("postgresql.log", "2026-01-13 {h}:{m}:{s}.{ms} UTC [{pid}] ", """
        ERROR:  duplicate key value violates unique constraint "jobs_pkey"
        DETAIL:  Key (id)=({code}) already exists.
        FATAL:  password authentication failed for user "grafana"
        LOG:  could not receive data from client: Connection reset by peer
        LOG:  checkpoint complete: wrote {code} buffers (3.1%); sync=0.{n3} s
        ERROR:  canceling statement due to statement timeout
        LOG:  received smart shutdown request
    """),
    "kafka": kind("kafka/server.log", "[2026-01-13 {h}:{m}:{s},{ms}] ", """
        WARN [Producer clientId=p{d}] Got error produce response with correlation id {code} on topic-partition logs-{d}, retrying (2147483646 attempts left). Error: NOT_LEADER_OR_FOLLOWER
        INFO [GroupCoordinator {d}]: Member consumer-{code} has failed, removing it from the group
        ERROR [ReplicaManager broker={d}] Error processing append operation on partition logs-{d}
        INFO Rolled new log segment at offset {code} in {d} ms.
    """),
    "spark": kind("spark.log", "26/01/13 {h}:{m}:{s} ", """
        WARN TaskSetManager: Lost task {d}.0 in stage {n3}.0 (TID {code}) ({ip} executor {d}): FetchFailed
        INFO TaskSetManager: Finished task {d}.0 in stage {n3}.0 (TID {code}) in {n4} ms on {ip} ({d}/200)
        INFO MemoryStore: Block broadcast_{n3} stored as values in memory (estimated size {code}.0 B, free 2.1 GiB)
        INFO DAGScheduler: Job {n3} finished: count at Jobs.scala:{n3}, took 12.{code} s
    """),
    "docker": kind("docker.log", "", """
        time="2026-01-13T{h}:{m}:{s}.{code}Z" level=info msg="ignoring event" container={code}ab module=libcontainerd namespace=moby topic=/tasks/delete type="*events.TaskDelete"
        time="2026-01-13T{h}:{m}:{s}.{code}Z" level=warning msg="failed to close stdin: NotFound: task {code}ab not found: not found"
        time="2026-01-13T{h}:{m}:{s}.{code}Z" level=info msg="Container failed to exit within 10s of signal 15 - using the force" container={code}ab
        time="2026-01-13T{h}:{m}:{s}.{code}Z" level=info msg="Loading containers: done."
    """),
    "gunicorn": kind("gunicorn.log", "[2026-01-13 {h}:{m}:{s} +0800] [{pid}] ", """
        [INFO] Booting worker with pid: {pid}
        [INFO] Handling signal: term
        [WARNING] Worker (pid:{pid}) was sent SIGTERM!
        [INFO] Worker exiting (pid: {pid})
        [INFO] Shutting down: Master
        [DEBUG] POST /search documents={code} error=none
    """),
    "ansible": kind("ansible.log", PYTHON, """
        p={pid} u=root n=ansible | fatal: [node-{d}]: FAILED! => {{"changed": false, "msg": "Could not find the requested service firewalld: host"}}
        p={pid} u=root n=ansible | ...ignoring
        p={pid} u=root n=ansible | ok: [node-{d}]
        p={pid} u=root n=ansible | node-{d} : ok={n3} changed=3 unreachable=0 failed=0 skipped={n3} rescued=0 ignored=1
    """),
    "metrics": kind("metrics.prom", "", """
        npu_chip_info_error_code{{id="{d}"}} 0
        npu_chip_info_link_status{{id="{d}"}} 1
        npu_chip_roce_tx_err_pkt_num{{id="{d}"}} 0
        process_exit_total{{code="137"}} 0
        http_requests_total{{code="500"}} {code}
        vllm:request_success_total{{finished_reason="abort"}} {code}
        node_edac_correctable_errors_total{{controller="0"}} {n3}
        container_oom_events_total{{pod="train-{d}"}} 0
        kubelet_runtime_operations_errors_total {code}
    """),
    "ipmi": kind("ipmi_sel.txt", "", """
        {n4} | 01/13/2026 | {h}:{m}:{s} | Power Supply PS{d} | Power Supply AC lost | Deasserted
        {n4} | 01/13/2026 | {h}:{m}:{s} | System Event | Timestamp Clock Sync | Asserted
        {n4} | 01/13/2026 | {h}:{m}:{s} | Event Logging Disabled SEL | Log area reset/cleared | Asserted
        {n4} | 01/13/2026 | {h}:{m}:{s} | Fan FAN{d} | Redundancy Regained | Asserted
    """),
    "smart": kind("smartctl.txt", "", """
        SMART overall-health self-assessment test result: PASSED
        {n3} Raw_Read_Error_Rate     0x000b   100   100   016    Pre-fail  Always       -       {code}
        {n3} UDMA_CRC_Error_Count    0x000a   200   200   000    Old_age   Always       -       {d}
        Error Information Log Entries:      {code}
        Media and Data Integrity Errors:    0
        No Errors Logged
    """),
    "env": kind("env.txt", "", """
        HCCL_CONNECT_TIMEOUT=600
        HCCL_EXEC_TIMEOUT=1800
        ASCEND_GLOBAL_LOG_LEVEL=3
        ASCEND_ERROR_HANDLER=none
        TORCH_NCCL_ASYNC_ERROR_HANDLING=1
        PYTHONFAULTHANDLER=1
        SLURM_JOB_ID={code}
        OMP_NUM_THREADS={d}
    """),
    "mindspore": kind("mindspore.log", "", """
        epoch: {d} step: {n4}, loss is 2.{n3}, error_rate is 0.{n3}
        [WARNING] ME({pid}:{pid},MainProcess):2026-01-13-{h}:{m}:{s}.001.001 [mindspore/train/model.py:{n3}] The evaluate metric top_1_error is deprecated
        [WARNING] MD({pid},fffd3d7fa0f0,python):2026-01-13-{h}:{m}:{s}.340.894 [mindspore/ccsrc/minddata/dataset/engine/datasetops/data_queue_op.cc:257] SendDataToAscend] Thread has already been terminated.
        [WARNING] DEVICE({pid},ffffb4d8e480,python):2026-01-13-{h}:{m}:{s}.340.894 [mindspore/ccsrc/x.cc:77] Alloc] free memory {code}, no failure
        train finished, {code} samples in total, 0 failed
    """),
}  # fmt: skip


def calm(name: str, seed: int) -> tuple[str, str]:
    """A path and the text of one file of a kind; the same seed makes the same file."""
    made, rng = KINDS[name], random.Random(f"{name}/{seed}")

    def filled(template: str) -> str:
        return template.format(
            code=rng.choice(CODES), d=rng.randrange(8), n3=rng.randrange(100, 999), n4=rng.randrange(1000, 9999),
            pid=rng.choice((rng.randrange(1000, 99999), *map(int, CODES))), port=rng.randrange(30000, 60000),
            ip=f"10.{rng.randrange(250)}.{rng.randrange(250)}.{rng.randrange(1, 250)}", ms=rng.randrange(100, 999),
            h=f"{rng.randrange(24):02}", m=f"{rng.randrange(60):02}", s=f"{rng.randrange(60):02}",
        )  # fmt: skip

    rows = [filled(made.stamp + line) for _ in range(rng.randrange(2, 5)) for line in rng.sample(made.lines, len(made.lines))]
    return filled(made.path), "\n".join(rows) + "\n"
