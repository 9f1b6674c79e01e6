"""What a short script does, template by template: tensors, the call, and what is compared. `short` puts the head before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doctor.repro.expressions import Tensors, arguments, expression, variable

Slots = Mapping[str, Any]
_TOLERANCES = {"float16": "rtol=2e-3, atol=1e-3", "bfloat16": "rtol=1.6e-2, atol=8e-3"}
_PLAIN = "rtol=1e-4, atol=1e-5"
_WIDTH = 100
REFUSED = '    if "not implemented" not in str(error):'


def _imports(device: str = "npu:0", *more: str) -> list[str]:
    return [
        *(f"import {name}" for name in sorted({"sys", *more})),
        "",
        "import torch",
        "",
        f'DEVICE = sys.argv[1] if len(sys.argv) > 1 else "{device}"',
        'NPU = DEVICE.startswith("npu")',
        "if NPU:",
        "    import torch_npu",
        'print("torch", torch.__version__, "torch_npu", torch_npu.__version__ if NPU else "not used")',
        "torch.manual_seed(0)",
    ]


def _formats(tensors: Tensors) -> list[str]:
    """How a tensor gets a private format; only where one has it."""
    if not tensors.formats:
        return []
    return ["", "", "def formatted(tensor, number):", '    return torch_npu.npu_format_cast(tensor, number) if tensor.device.type == "npu" else tensor']


def _call(lines: Sequence[str], tensors: Tensors) -> list[str]:
    """The tensors, and the function that makes the call on a device."""
    head = f"def call(device, dtype=torch.{tensors.half}):" if tensors.half else "def call(device):"
    return [*tensors.lines, *_formats(tensors), "", "", head, *(f"    {line}" for line in lines)]


def _compared(tensors: Tensors, *, compare: bool = True, cpu: bool = True) -> list[str]:
    """Run on the device, wait for it, and hold the result against the CPU's."""
    device = ["result = call(DEVICE)", "if NPU:", "    torch.npu.synchronize()  # an asynchronous error is raised here"]
    if not cpu:
        return ["", "", *device, 'print("no error; torch_npu alone has this operator, so nothing is compared")']
    if not compare:
        return ["", "", *device, 'print("no error; the result may differ from run to run, so nothing is compared")']
    wide = ", torch.float32" if tensors.half else ""
    tolerance = _TOLERANCES.get(tensors.half, _PLAIN)
    return [
        "", "",
        "try:",
        f'    expected = call("cpu"{wide})',
        "except Exception as error:",
        REFUSED,
        '        sys.exit(f"malformed: the CPU refuses this call as well, so it says nothing about the NPU: {error}")',
        "    expected = None",
        *device,
        "if expected is None:",
        '    sys.exit("not comparable: the CPU has no such kernel; the device raised no error")',
        f"torch.testing.assert_close(result, expected, {tolerance}, check_device=False, check_dtype=False, equal_nan=True)",
        'print("same result as the CPU")',
    ]  # fmt: skip


def _single(slots: Slots) -> list[str]:
    tensors = Tensors()
    operator = slots["OPERATOR"]
    body = _wrapped(f"return {operator}(", arguments(slots["ARGS"], slots["KWARGS"], tensors))
    return [*_imports(), *_call(body, tensors), *_compared(tensors, compare=slots.get("COMPARE", True), cpu=_on_cpu(operator))]


def _in_place(slots: Slots) -> list[str]:
    operator = slots["INPLACE"] or slots["OPERATOR"]
    first, *rest = slots["ARGS"]
    tensors = Tensors()
    target = f"y = {expression(first, tensors)}.clone()"
    others = arguments(rest, slots["KWARGS"], tensors)
    call = f"{operator}(y{', ' if others else ''}{others})" if slots["INPLACE"] else f"{operator}(y{', ' if others else ''}{others}, out=y)"
    return [*_imports(), *_call([target, call, "return y"], tensors), *_compared(tensors)]


def _backward(slots: Slots) -> list[str]:
    tensors = Tensors()
    made = arguments(slots["ARGS"], slots["KWARGS"], tensors)
    leaves = [line.partition(" ")[0] for line in tensors.lines if "randint" not in line and "bool" not in line]
    lines = [f"{name}_ = {name}.to(device{', dtype' if tensors.half else ''}).requires_grad_()" for name in leaves]
    for name in leaves:
        made = made.replace(f"{name}.to(device, dtype)", f"{name}_").replace(f"{name}.to(device)", f"{name}_")
    lines += [*_wrapped(f"out = {slots['OPERATOR']}(", made), "first = out[0] if isinstance(out, (tuple, list)) else out", "first.sum().backward()"]
    lines.append(f"return [first.detach(), {', '.join(f'{name}_.grad' for name in leaves)}]")
    return [*_imports(), *_call(lines, tensors), *_compared(tensors, cpu=_on_cpu(slots["OPERATOR"]))]


def _mixed(slots: Slots) -> list[str]:
    tensors = Tensors(widen=False)
    body = _wrapped(f"return {slots['OPERATOR']}(", arguments([slots["INPUTS"]], slots["KWARGS"], tensors))
    return [*_imports(), *_call(body, tensors), *_compared(tensors)]


def _dtypes(slots: Slots) -> list[str]:
    tensors = Tensors(widen=False)
    made = arguments(slots["ARGS"], slots["KWARGS"], tensors).replace(".to(device)", ".to(device).to(dtype)", 1)
    kinds = ", ".join(f"torch.{d}" for d in slots["DTYPES"])
    return [
        *_imports(), *tensors.lines, *_formats(tensors), "",
        "device = DEVICE",
        f"for dtype in ({kinds},):",
        "    try:",
        *(f"        {line}" for line in _wrapped(f"{slots['OPERATOR']}(", made)),
        "        if NPU:",
        "            torch.npu.synchronize()",
        '        print(f"{dtype}: taken")',
        "    except Exception as error:",
        '        print(f"{dtype}: refused: {str(error).strip().splitlines()[0][:160]}")',
    ]  # fmt: skip


def _shapes(slots: Slots) -> list[str]:
    old = _first_size(slots["ARGS"], slots["DIMENSION"])
    tensors = Tensors(widen=False)
    made = arguments(_sized(slots["ARGS"], old), _sized(slots["KWARGS"], old), tensors)
    lines = [line.replace(str(_MARK), "size") for line in tensors.lines]
    return [
        *_imports("npu:0", "time"), *_formats(tensors), "",
        "device = DEVICE",
        f"for size in {slots['SIZES']}:",
        *(f"    {line}" for line in lines),
        "    for attempt in (1, 2):",
        "        begin = time.perf_counter()",
        *(f"        {line}" for line in _wrapped(f"{slots['OPERATOR']}(", made.replace(str(_MARK), "size"))),
        "        if NPU:",
        "            torch.npu.synchronize()",
        '        print(f"size {size}, run {attempt}: {(time.perf_counter() - begin) * 1000:.2f} ms")',
        '# A first run that takes many times the second one was compiled for this shape.',
    ]  # fmt: skip


def _steps(slots: Slots) -> list[str]:
    tensors = Tensors(widen=False)
    made: list[str] = []
    for number, step in enumerate(slots["STEPS"], 1):
        call = f"{step['op']}({arguments(step['args'], step['kwargs'], tensors)})"
        names = [variable(name) if name else "_" for name in step["out"]]
        made.append(f"{', '.join(names)} = {call}" if any(step["out"]) else call)
        made += ["if NPU:", "    torch.npu.synchronize()", f'print("step {number}: {step["op"]} is done")']
        for name in filter(None, step["out"]):
            tensors.result(name)
    return [*_imports(), *tensors.lines, *_formats(tensors), "", "device = DEVICE", *made]


def _overflow(slots: Slots) -> list[str]:
    tensors = Tensors()
    body = _wrapped(f"return {slots['OPERATOR']}(", arguments(slots["ARGS"], slots["KWARGS"], tensors))
    wide = ", torch.float32" if tensors.half else ""
    return [
        *_imports(), *_call(body, tensors), "", "",
        f'exact, result = call("cpu"{wide}), call(DEVICE).cpu()',
        "limit = torch.finfo(result.dtype).max",
        'print(f"{(~result.isfinite()).sum()} of {result.numel()} values are not finite on the device")',
        'print(f"the largest exact value is {exact.abs().max():.6g}, the type holds {limit:.6g}")',
    ]  # fmt: skip


def _dump(slots: Slots) -> list[str]:
    tensors = Tensors()
    arguments(slots["ARGS"], slots["KWARGS"], tensors)
    kept = [line.partition(" ")[0] for line in tensors.lines]
    save = f'torch.save({{"inputs": [{", ".join(kept)}], "result": result}}, "dump.pt")'
    return [*_single({**slots, "COMPARE": True})[:-1], save, 'print("same result as the CPU; inputs and result are in dump.pt")']


def _memory(slots: Slots) -> list[str]:
    most = max(slots["SIZE"], slots["LIMIT"])
    pieces = [
        f"wanted = min({slots['SIZE']}, free // 2)  # bytes that the program asked for",
        "blocks = [block(wanted // 16) for _ in range(16)]",
        "del blocks[::2]  # half of it is free again, in pieces",
        "block(wanted // 4)",
        'print(f"{wanted >> 22} MiB in one piece can be had when {wanted >> 21} MiB were freed in pieces")',
    ]
    return [
        *_imports(), "", "",
        "def block(size):",
        "    made = torch.empty(size, dtype=torch.uint8, device=DEVICE).fill_(1)",
        "    if NPU:",
        "        torch.npu.synchronize()",
        "    return made", "", "",
        f"free, total = torch.npu.mem_get_info() if NPU else ({most}, {most})",
        'print(f"{free >> 20} of {total >> 20} MiB are free")',
        "size = 1 << 20",
        "while size <= free * 9 // 10:  # more than what is free must fail",
        "    block(size)",
        '    print(f"{size >> 20} MiB in one piece can be had")',
        "    size *= 2",
        *(pieces if "SIZE" in slots["TOLD"] else []),
    ]  # fmt: skip


def _collective(slots: Slots) -> list[str]:
    kind = slots["COLLECTIVE"]
    calls = {
        "all_reduce": ["dist.all_reduce(mine)", "print(rank, mine[:4].tolist())"],
        "reduce": ["dist.reduce(mine, dst=0)", "print(rank, mine[:4].tolist())"],
        "broadcast": ["dist.broadcast(mine, src=0)", "print(rank, mine[:4].tolist())"],
        "all_gather": ["parts = [torch.empty_like(mine) for _ in range(world)]", "dist.all_gather(parts, mine)", "print(rank, [p[0].item() for p in parts])"],
        "reduce_scatter": ["part = torch.empty_like(mine)", "dist.reduce_scatter(part, [mine.clone() for _ in range(world)])", "print(rank, part[:4].tolist())"],
        "all_to_all": ["sent = torch.stack([mine] * world)", "received = torch.empty_like(sent)", "dist.all_to_all_single(received, sent)", "print(rank, received[:, 0].tolist())"],
        "send_recv": ["if rank == 0:", "    dist.send(mine, dst=world - 1)", "if rank == world - 1:", "    dist.recv(mine, src=0)", "print(rank, mine[:4].tolist())"],
        "barrier": ["dist.barrier()", 'print(rank, "passed the barrier")'],
    }  # fmt: skip
    differs, other = slots["DIFFERS"], "broadcast" if kind != "broadcast" else "all_reduce"
    count, dtype, made = str(slots["COUNT"]), f"torch.{slots['DTYPE']}", calls[kind]
    if differs == "count":
        count += " + last"
    elif differs == "dtype":
        dtype = f"torch.{'int32' if slots['DTYPE'] != 'int32' else 'float32'} if last else {dtype}"
    elif differs == "collective":
        made = ["if last:", *(f"    {line}" for line in calls[other]), "else:", *(f"    {line}" for line in made)]
    return [
        f"# torchrun --nproc_per_node={max(slots['WORLD'], 1)} THIS_FILE [npu|cpu]",
        "import os", *("import torch\nimport torch.distributed as dist" if line == "import torch" else line for line in _imports("npu")[:-1]), "",
        'rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])',
        "if NPU:",
        '    DEVICE = f"npu:{os.environ[\'LOCAL_RANK\']}"',
        "    torch.npu.set_device(DEVICE)",
        'dist.init_process_group("hccl" if NPU else "gloo")',
        *(["last = rank == world - 1  # the rank that differs from the others"] if differs else []),
        f"mine = torch.full(({count},), rank + 1, dtype={dtype}, device=DEVICE)",
        *made,
        "dist.destroy_process_group()",
    ]  # fmt: skip


def _switch(slots: Slots) -> list[str]:
    return [
        *_imports(slots["FIRST"]), "",
        f'for device in (DEVICE, "{slots["SECOND"]}" if NPU else "cpu"):  # two devices in one thread',
        "    if NPU:",
        "        torch.npu.set_device(device)",
        f"    x = torch.ones({tuple(slots['SHAPE'])}, dtype=torch.{slots['DTYPE']}, device=device)",
        '    print(device, (x @ x).sum().item())',
        'print("no error: two devices were used in one thread")',
    ]  # fmt: skip


def _order(slots: Slots) -> list[str]:
    backward = [f"x = torch.randn({tuple(slots['SHAPE'])}, dtype=torch.{slots['DTYPE']}).requires_grad_()", "x.sum().backward()  # on the CPU: it takes device 0"]
    select = ["if NPU:", "    torch.npu.set_device(DEVICE)"]
    late = slots["ORDER"] == "late"
    return [
        *_imports(slots["DEVICE"]), "",
        *(backward + select if late else select + backward),
        "y = x.detach().to(DEVICE).requires_grad_()",
        "y.sum().backward()",
        f'print("no error: set_device came {"after" if late else "before"} the first backward pass")',
    ]  # fmt: skip


def _modules(slots: Slots) -> list[str]:
    tensors = Tensors(widen=False)
    spec = slots["INPUT"]["tensor"]
    name = tensors.name(spec)
    layers = [f"    torch.nn.{m['name']}({arguments(m['args'], m['kwargs'], tensors)})," for m in slots["MODULES"]]
    return [
        *_imports(), *tensors.lines, "model = torch.nn.Sequential(", *layers, ")", "", "",
        "def call(device):",
        f"    inputs = {name}.to(device){'.requires_grad_()' if 'int' not in spec['dtype'] else ''}",
        f"    out = model.to(device, torch.{spec['dtype']})(inputs)" if "int" not in spec["dtype"] else "    out = model.to(device)(inputs)",
        "    model.zero_grad()",
        "    out.float().pow(2).mean().backward()",
        "    return [out.detach().cpu(), *(p.grad.cpu().clone() for p in model.parameters())]",
        *_compared(tensors),
    ]  # fmt: skip


def _placed(slots: Slots) -> tuple[Tensors, list[str]]:
    """What comes before a graph: the tensors on the device, and the call as a function without arguments."""
    tensors = Tensors(widen=False)
    made = arguments(slots["ARGS"], slots["KWARGS"], tensors).replace(".to(device)", "")
    moved = [f"{line}.to(DEVICE)" for line in tensors.lines]
    call = [f"    {line}" for line in _wrapped(f"return {slots['OPERATOR']}(", made)]
    return tensors, [*_imports(), "if NPU:", "    torch.npu.set_device(DEVICE)", *_formats(tensors), *moved, "", "", "def run():", *call, "", ""]


def _same_as(tensors: Tensors) -> str:
    made = " ".join(tensors.lines)
    tolerance = next((told for half, told in _TOLERANCES.items() if f"torch.{half}" in made), _PLAIN)
    return f"torch.testing.assert_close(result, expected, {tolerance}, equal_nan=True)"


_INSIDE = {
    "item": ["first.flatten()[0].item()  # a copy to the host"],
    "synchronize": ["torch.npu.synchronize()"],
    "stream": ["with torch.npu.stream(torch.npu.Stream()):  # a stream that the capture does not know", "    first + 1"],
    "copy": ["torch.ones(first.shape, dtype=first.dtype).to(DEVICE)  # from memory that is not pinned"],
}


def _capture(slots: Slots) -> list[str]:
    tensors, before = _placed(slots)
    inside = _INSIDE.get(slots["INSIDE"], [])
    first = ["first = result[0] if isinstance(result, (tuple, list)) else result"] if slots["INSIDE"] in ("item", "copy", "stream") else []
    return [
        *before,
        "expected = run()  # what the first call allocates and compiles must not be captured",
        "if NPU:",
        "    torch.npu.synchronize()",
        "    graph = torch.npu.NPUGraph()",
        "    with torch.npu.graph(graph):",
        "        result = run()",
        *(f"        {line}" for line in (*first, *inside)),
        "    graph.replay()",
        "    torch.npu.synchronize()",
        f"    {_same_as(tensors)}",
        'print("captured and replayed, the same result" if NPU else "no error; a CPU captures no graphs")',
    ]


def _compile(slots: Slots) -> list[str]:
    tensors, before = _placed(slots)
    return [
        *before,
        "if NPU:",
        "    import torchair",
        "    backend = torchair.get_npu_backend(compiler_config=torchair.CompilerConfig())",
        "else:",
        '    backend = "aot_eager"  # traces the call and compiles nothing',
        f"compiled = torch.compile(run, backend=backend, dynamic={slots['CHANGING']}, fullgraph=True)",
        "expected, result = run(), compiled()",
        _same_as(tensors),
        'print("compiled, no error, the same result")',
    ]


BODIES: Mapping[str, Callable[[Slots], list[str]]] = {
    "single_op": _single, "inplace_out": _in_place, "op_backward": _backward, "mixed_stack": _mixed, "dtype_sweep": _dtypes,
    "dynamic_shape": _shapes, "stream_bisect": _steps, "overflow_detection": _overflow, "op_dump": _dump,
    "memory_pressure": _memory, "hccl_collective": _collective, "device_switch": _switch, "set_device_order": _order,
    "module_context": _modules, "graph_capture": _capture, "graph_compile": _compile,
}  # fmt: skip

_MARK = 987654321987
"""Stands for the size that changes, until the lines are written."""


def _on_cpu(operator: str) -> bool:
    return not operator.startswith("torch_npu.") and not operator.startswith("torch.ops.npu.")


def _wrapped(head: str, inner: str) -> list[str]:
    """A call in one line, or with its arguments in a line of their own."""
    one = f"{head}{inner})"
    return [one] if len(one) <= _WIDTH or not inner else [head, f"    {inner}", ")"]


def _first_size(args: Sequence[Any], dimension: int) -> int:
    for value in args:
        if isinstance(value, dict) and "tensor" in value and len(value["tensor"]["shape"]) > dimension:
            return int(value["tensor"]["shape"][dimension])
        if isinstance(value, list) and (found := _first_size(value, dimension)):
            return found
    return 0


def _sized(value: Any, old: int) -> Any:
    """The arguments, with every dimension of a tensor that has the old size marked."""
    if isinstance(value, list):
        return [_sized(v, old) for v in value]
    if isinstance(value, dict):
        if "tensor" in value:
            spec = value["tensor"]
            return {"tensor": {**spec, "shape": [_MARK if n == old else n for n in spec["shape"]]}}
        return {k: _sized(v, old) for k, v in value.items()}
    return value
