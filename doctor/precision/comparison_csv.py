"""Reads a comparison's CSV, of ptdbg_ascend and of msprobe, whatever their version calls the columns."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator

from doctor.base.errors import UsageError
from doctor.base.notation import clean
from doctor.precision.comparison import Api, Limits, Row, Verdict
from doctor.repro.values import shape

DEFAULT = Limits()
KEPT = 40  # suspect APIs kept of each direction; the others are counted

# Every spelling of a column that the tools have had, reduced to its letters and digits.
_COLUMNS = {
    "name": ("npuname", "opname", "apiname", "name"),
    "dtype": ("npudtype", "npudatatype", "npudtypes", "nputensordtype"),
    "shape": ("nputensorshape", "npushape"),
    "cosine": ("cosine", "cosinesimilarity"),
    "error": ("maxabserr", "maxabserror", "maxabsoluteerror", "maxabsolutediff"),
    "verdict": ("accuracyreachedornot", "result", "pass"),
    "message": ("errmessage", "errormessage"),
    "stack": ("npustackinfo", "stackinfo"),
    "maximum": ("maxdiff",),
    "md5": ("npumd5",),
}
_NAME = re.compile(
    r"(?P<api>.{1,400}?)(?P<gap>[._])(?P<way>forward|backward)(?P<call>\.\d{1,9}(?=\.))?(?P<rest>.{0,200})$"
)
_BAD = {"statistics": ("warning", "error"), "md5": ("different",)}


def judge(lines: Iterable[str], limits: Limits = DEFAULT, name: str = "the file") -> Verdict:
    """The verdict over a whole CSV, read row by row."""
    table = csv.reader(lines)
    try:
        header = next(table, [])
        columns = _columns(header)
        made = Verdict(_mode(columns, header, name), "ptdbg_ascend" if "nputensordtype" in map(_plain, header) else "msprobe")  # fmt: skip
        for api in _apis(_rows(table, columns, made)):
            made.apis += 1
            _judge_api(api, limits, made)
    except csv.Error as error:
        raise UsageError(
            f"{name} is no CSV: {error}", "give the compare_result_*.csv that the comparison wrote"
        ) from None
    return made


def _plain(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def _columns(header: list[str]) -> dict[str, int]:
    plain = [_plain(cell) for cell in header]
    found = {}
    for what, names in _COLUMNS.items():
        for one in names:
            if one in plain:
                found[what] = plain.index(one)
                break
    return found


def _mode(columns: dict[str, int], header: list[str], name: str) -> str:
    if "name" in columns:
        if "cosine" in columns and "error" in columns:
            return "values"
        if "verdict" in columns and ("maximum" in columns or "md5" in columns):
            return "md5" if "md5" in columns else "statistics"
    if header and header[0].startswith("PK"):
        raise UsageError(
            f"{name} is an Excel workbook", "save its first sheet as CSV, or compare with the CSV output of the tool"
        )
    shown = clean(", ".join(cell.strip()[:30] for cell in header[:8])) or "nothing"
    raise UsageError(
        f"{name} is no comparison result of ptdbg_ascend or msprobe: its columns are {shown}",
        "expected are 'NPU Name' with 'Cosine' and 'MaxAbsErr' (or 'Max diff' / 'NPU MD5' with 'Result'): compare_result_*.csv",
    )


def _rows(table: Iterator[list[str]], columns: dict[str, int], made: Verdict) -> Iterator[Row]:
    for number, cells in enumerate(table, 2):
        got = {what: cells[at].strip() if at < len(cells) else "" for what, at in columns.items()}
        if not got["name"]:
            continue
        made.rows += 1
        api, way, side = parts(got["name"])
        yield Row(
            got["name"], api, way, side, got.get("dtype", ""), _shape(got.get("shape", "")), number_of(got.get("cosine", "")),
            number_of(got.get("error", "")), got.get("verdict", ""), got.get("message", ""), got.get("stack", ""), number,
        )  # fmt: skip


def parts(name: str) -> tuple[str, str, str]:
    """(API with its direction, direction, side) of a tensor's name, in the dotted and in the older underscored form."""
    found = _NAME.match(name)
    if found is None:
        return name, "forward", "output"
    api = f"{found['api']}{found['gap']}{found['way']}{found['call'] or ''}"
    return api, found["way"], "output" if "output" in found["rest"] else "input"


def number_of(written: str) -> float | None:
    try:
        return float(written.strip().rstrip("%"))
    except ValueError:
        return None


def _shape(written: str) -> tuple[int, ...] | None:
    inner = written.strip().removeprefix("torch.Size").strip("([)] ")
    return shape(inner) if inner or written.strip() in ("[]", "()", "torch.Size([])") else None


def _apis(rows: Iterator[Row]) -> Iterator[Api]:
    """Rows of one API stand together; a name that comes back is another group."""
    current: Api | None = None
    for row in rows:
        if current is None or row.api != current.name:
            if current is not None:
                yield current
            current = Api(row.api, row.way)
        if len(current.rows) < 256:
            current.rows.append(row)
    if current is not None:
        yield current


def _judge_api(api: Api, limits: Limits, made: Verdict) -> None:
    for row in api.rows:
        why = reason(row, limits, made.mode)
        if why is None:
            continue
        made.judged += 1
        if why:
            api.suspects.append((row, why))
    if api.suspects:
        made.suspects[api.way] += 1
        kept = sum(a.way == api.way for a in made.found)
        if kept < KEPT or (made.origin(api.way) is None and api.dumped and not api.inherited):
            made.found.append(api)


def reason(row: Row, limits: Limits, mode: str = "values") -> str | None:
    """Why a row is suspect; empty when it is not; None when the tool gave nothing to judge by."""
    if mode != "values":
        return (row.verdict if row.verdict.lower() in _BAD[mode] else "") if row.verdict else None
    error, cosine = row.max_abs_err, row.cosine
    if error is not None and not math.isfinite(error):
        return "NaN/INF"
    known = cosine is not None and not math.isnan(cosine)
    if error is None and not known:
        return None
    if cosine is not None and cosine < limits.low_cosine:
        return f"Cosine < {limits.low_cosine}"
    if error is None:
        return ""
    if error > limits.high_error:
        return f"MaxAbsErr > {limits.high_error:g}"
    if error <= limits.max_abs_err:
        return ""
    if cosine is None or math.isnan(cosine):
        return "MaxAbsErr (no cosine)"
    return "Cosine, MaxAbsErr" if cosine < limits.cosine else ""
