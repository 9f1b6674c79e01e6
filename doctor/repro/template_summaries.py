"""One sentence about each template, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from kb.model import Text

ABOUT: Mapping[str, Text] = {
    "single_op": Text(
        "one operator: CPU against device, tolerance by type", "单算子：CPU 与设备结果对比，按数据类型取容差"
    ),
    "inplace_out": Text(
        "one operator as a new result, in place, and into out=", "单算子的三种形式：新结果、原地、out="
    ),
    "op_backward": Text("one operator forward and backward, every gradient", "单算子正向与反向，对比每个梯度"),
    "module_context": Text(
        "modules in context with hooks: the first layer that differs", "带 hook 的模块上下文：找出第一个有差异的层"
    ),
    "mixed_stack": Text("inputs of different types into stack or cat", "不同数据类型的输入做 stack 或 cat"),
    "dtype_sweep": Text(
        "one operator with each type: which the device refuses", "逐个数据类型运行算子：设备不支持哪些"
    ),
    "dynamic_shape": Text("changing shapes: which are compiled anew", "动态形状循环：哪些形状会重新编译"),
    "memory_pressure": Text(
        "allocation ladder: the size that fails, and fragmentation", "阶梯式申请内存：找出失败的大小和碎片"
    ),
    "hccl_collective": Text(
        "one collective between two ranks (hccl, or gloo on the CPU)", "两个 rank 的集合通信（hccl，CPU 上用 gloo）"
    ),
    "device_switch": Text(
        "two devices in one thread, then one thread each (ExchangeDevice)",
        "同一线程切换两个设备，再各用一个线程（ExchangeDevice）",
    ),
    "set_device_order": Text("backward pass before set_device, or after", "反向在 set_device 之前或之后"),
    "stream_bisect": Text(
        "a sequence of operators, waiting after each: the step that fails", "算子序列逐步同步：找出失败的一步"
    ),
    "overflow_detection": Text("infinities and NaN on the device and on the CPU", "检测溢出：设备与 CPU 上的 Inf/NaN"),
    "graph_capture": Text(
        "one operator captured into an NPU graph and replayed", "把单算子捕获进 NPU 图并重放"
    ),
    "graph_compile": Text("one operator through torch.compile (torchair on the NPU)", "单算子经 torch.compile（NPU 上用 torchair）"),
    "op_dump": Text("one operator with its inputs and outputs written to disk", "单算子 dump：输入输出写入磁盘"),
}
