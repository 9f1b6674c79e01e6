"""What evidence is missing, and how to get it."""

from __future__ import annotations

_FINER = ("export ASCEND_GLOBAL_LOG_LEVEL=1    # for one short run, then unset; afterwards: npu-doctor scan ~/ascend/log", "export ASCEND_GLOBAL_LOG_LEVEL=1    # 仅用于一次短复现，之后 unset；然后执行: npu-doctor scan ~/ascend/log")

WORDS = {
    "nothing": ("nothing was read: there was no log text", "没有读到任何日志文本"),
    "nothing-how": ("npu-doctor scan ~/ascend/log    # or the folder in $ASCEND_PROCESS_LOG_PATH; or pipe: python train.py 2>&1 | npu-doctor", "npu-doctor scan ~/ascend/log    # 或 $ASCEND_PROCESS_LOG_PATH 指定的目录；也可管道输入: python train.py 2>&1 | npu-doctor"),
    "kernel": ("what the kernel's modules say: this line comes from the driver's side", "内核模块的日志：该行来自驱动侧"),
    "kernel-how": ("dmesg -T | grep -iE 'davinci|devdrv|ascend|npu|hisi' | tail -n 40; npu-smi info    # on the host", "dmesg -T | grep -iE 'davinci|devdrv|ascend|npu|hisi' | tail -n 40; npu-smi info    # 在宿主机上"),
    "louder": ("what led to that line: a plog holds errors alone by default", "该行之前发生了什么：plog 默认只记录错误"),
    "louder-how": _FINER,
    "container": ("what the container was not given: on the host it works", "容器缺少什么：在宿主机上可以运行"),
    "container-how": ("ls -l /dev/davinci* /dev/devmm_svm /dev/hisi_hdc /usr/local/Ascend/driver/version.info /usr/local/dcmi    # on the host and in the container, compared", "ls -l /dev/davinci* /dev/devmm_svm /dev/hisi_hdc /usr/local/Ascend/driver/version.info /usr/local/dcmi    # 分别在宿主机与容器内执行并比较"),
    "container-lacks": ("what the container was not given: on the host it works, and its docker run names less than a driver usually needs", "容器缺少什么：在宿主机上可以运行，而 docker run 给的少于驱动通常所需"),
    "container-lacks-how": ("{options}    # added to docker run, as far as the host has them", "{options}    # 加入 docker run（以宿主机上存在的为限）"),
    "plog": ("the plog of the failing process (only screen output was given)", "缺少出错进程的 plog（目前只有屏幕输出）"),
    "plog-how": _FINER,
    "releases": ("the releases of {package} and of what calls it, and whether the configuration that they read is of the same release", "缺少 {package} 及其调用方的版本；并确认它们读取的配置与版本匹配"),
    "releases-how": ("python3 -m pip list | grep -iE '^({names})'", "python3 -m pip list | grep -iE '^({names})'"),
    "ranks": ("the logs of the other ranks: what was read only waited for somebody", "缺少其他 rank 的日志：已读到的日志只是在等待对端"),
    "ranks-how": ("npu-doctor scan LOGS_OF_ALL_NODES/    # collect ~/ascend/log of every node into one folder; any layout will do", "npu-doctor scan 所有节点日志目录/    # 把每个节点的 ~/ascend/log 收集到一个目录，布局不限"),
    "missing-ranks": ("the logs of rank {names} (world size {size})", "缺少 rank {names} 的日志（world size {size}）"),
    "missing-ranks-how": ("npu-doctor scan ~/ascend/log -f jsonl -o node.jsonl    # on the nodes of these ranks; then: npu-doctor merge *.jsonl", "npu-doctor scan ~/ascend/log -f jsonl -o node.jsonl    # 在这些 rank 的节点上执行，然后：npu-doctor merge *.jsonl"),
    "stopped": ("why {names} stopped: the kernel log and the launcher's output of {nodes}", "{names} 为何停止：{nodes} 的内核日志与启动器输出"),
    "stopped-how": ("dmesg -T > dmesg.txt    # on that node, as root; then scan it together with the logs", "dmesg -T > dmesg.txt    # 在该节点以 root 执行；再与日志一起诊断"),
    "run": ("run/plog with INFO lines: without the set-up of communicators ranks and devices cannot be told apart", "缺少 run/plog 的 INFO 日志：没有通信域创建记录就无法对应 rank 与设备"),
    "run-how": ("unset ASCEND_GLOBAL_LOG_LEVEL ASCEND_GLOBAL_EVENT_ENABLE    # defaults write run/plog; collect run/ as well as debug/", "unset ASCEND_GLOBAL_LOG_LEVEL ASCEND_GLOBAL_EVENT_ENABLE    # 默认会写 run/plog；请同时收集 run/ 与 debug/"),
    "recorder": ("the calls of all ranks: who did not come to the one that timed out, and where that one stood", "缺少所有 rank 的集合通信调用记录：谁没有到达超时的那次调用，当时停在哪里"),
    "recorder-how": ("export TORCH_HCCL_TRACE_BUFFER_SIZE=2000 TORCH_HCCL_DUMP_ON_TIMEOUT=1 TORCH_HCCL_ENABLE_MONITORING=1    # before the next run; while one hangs: npu-doctor hang on every node", "export TORCH_HCCL_TRACE_BUFFER_SIZE=2000 TORCH_HCCL_DUMP_ON_TIMEOUT=1 TORCH_HCCL_ENABLE_MONITORING=1    # 下次运行前设置；卡住时在每个节点执行：npu-doctor hang"),
    "stack": ("a stack that names the failing operator (kernels run asynchronously)", "缺少指向真正出错算子的调用栈（算子是异步执行的）"),
    "stack-how": ("ASCEND_LAUNCH_BLOCKING=1 COMMAND    # slow: for one run only, not together with graph capture", "ASCEND_LAUNCH_BLOCKING=1 COMMAND    # 会变慢：只用于一次复现，不能与图捕获同时使用"),
}
