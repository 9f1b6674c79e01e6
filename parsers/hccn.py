"""`hccn_tool -i N -X -g`: state of the card's network port, one row a value.

    $ hccn_tool -i 3 -link -g
    link status: DOWN
    $ hccn_tool -i 3 -optical -g
    optical info:
    present              : present
    Rx Power0            : 0.0001 mW
    Rx Los Flag          : 0xff
    $ hccn_tool -i 3 -link_stat -g
    [devid 3]link up count       : 4
    [devid 3]    Tue Mar  3 09:13:50 2026    LINK DOWN

The outputs do not name the card (`-tls` and `-link_stat` aside), so the command above is read too, headings such as
`== 3` that people's loops echo, and the list that a loop runs over; rows carry it as `npu` when anything tells, and as
`host` the machine that a prompt names. Where hccn.conf stands in the same text, a row `differs` names each card that has
another address than the file says; a row `weak light` one that receives less than its own threshold (`low`).

>>> [(row.get("topic"), row.get("key"), row.get("value"), row.get("npu")) for row in rows(__doc__.splitlines()[2:4], 1)]
[('link', 'link status', 'DOWN', '3')]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from parsers.lazy import lazy
from parsers.parsed import Row
from parsers.prefix import peel

_COMMAND = lazy(r"\bhccn_tool\b(?P<options>.{0,200})")
_HOST = lazy(r"\s{0,8}(?:\([\w. -]{1,40}\) ?)?\[?[A-Za-z_][\w.-]{0,40}@(?P<host>[\w.-]{1,80})[: ][^\n#$%>]{0,200}?\]?[#$%] ")
_CARD = lazy(r"-i +(?P<npu>\d{1,4})\b")
_OF_LOOP = lazy(r"-i +[\"']?\$\{?\w")
# The cards that a loop of a shell runs over: `{0..7}`, `$(seq 0 7)`, `` `seq 8` `` or the numbers themselves.
_LOOP = lazy(
    r"\bfor \w{1,20} in (?:\{(?P<low>\d{1,2})\.\.(?P<high>\d{1,2})\}"
    r"|(?:\$\(|`)seq (?:(?P<from>\d{1,2}) )?(?P<to>\d{1,2})[)`]|(?P<each>\d{1,2}(?: \d{1,2}){0,31}))\s*(?:;|$)"
)
_ADDRESS = lazy(r"\d{1,3}(?:\.\d{1,3}){3}$")
_HEADING = lazy(
    r"\s{0,80}(?P<mark>[=#*-]{1,20} {0,20})?(?:(?P<word>NPU|npu|dev(?:ice|id)?|card)[ _:]{0,20})?(?P<npu>\d{1,2})"
    r"[\s:]{0,40}(?:[=#*-]{1,20}\s{0,80})?$"
)
_DEVICE = lazy(r"\s*\[dev(?:ice|id) (?P<npu>\d{1,4})\] ?")
_VALUE = lazy(
    r"\s*(?P<key>(?:vnic )?link status|net health status|ipaddr|netmask|(?:default )?gateway"
    r"|netdetect addr(?:ess)?|fec mode|mtu"
    r"|[Ss]peed|duplex|Link (?:up|down) count|link (?:up|down) count|current time|dscp_to_tc|roce tc"
    r"|pfc)\s*:\s*(?P<value>.*?)\s*$"
)
_TLS = lazy(r"\s*dev_id: ?(?P<npu>\d{1,4}), ?tls ")
_TLS_VALUE = lazy(r"(?P<key>tls [a-z ]{3,40})\[(?P<value>[^\]]{0,40})\](?P<unit>days)?")
_COUNTER = lazy(
    r"\s*(?P<key>(?:mac|roce|nic|rdma|hccs|pfc|mc|ub|tx|rx)_[a-z0-9_]{2,60}|(?:cqe|qp"
    r"|roh)_[a-z0-9_]{2,60})\s*: *(?P<value>\d{1,20})\s*$"
)
_CHANGE = lazy(
    r"\s*(?P<time>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d \d{4})\s+"
    r"(?P<value>LINK (?:UP|DOWN))\s*$"
)
_LOSS = lazy(r"\s*(?P<sent>\d+) packets transmitted, (?P<got>\d+) received, (?P<loss>[\d.]+)% packet loss")
_OPTICAL = lazy(
    r"\s*(?P<key>present|temperature|Vcc|(?:Tx|Rx) ?(?:Power|Bias|Los|LoL)\w*(?: (?:High|Low) Thres| Flag)?"
    r"|(?:Vcc|Temp) (?:High|Low) Thres"
    r"|(?:Host|Media) SNR.{0,12}|Vendor [A-Za-z ]{2,16}|manufacturer|Type|(?:Tx|Rx)Power (?:High|Low) Thres"
    r"|Identifier|Fault Flag.{0,12})"
    r"\s*: (?P<value>[^:\n]{1,80}?)(?: (?P<unit>mW|mV|mA|C|dB|dBm))?\s*$"
)
_RECEIVED = lazy(r"Rx ?Power\d{0,2}$")
_LEAST = lazy(r"Rx ?Power Low Thres$")
_NUMBER = lazy(r"\d{1,4}(?:\.\d{1,6})?$")
_DARK = 0.01  # mW: below it there is no light at all
_CONF = lazy(
    r"\s*(?P<key>(?:address|netmask|netdetect|gateway|send_arp_status|mtu"
    r"|IPv6\w{1,20})_(?P<npu>\d{1,3}))=(?P<value>\S*)\s*$"
)
_TOPICS = {
    "link status": "link", "vnic link status": "vnic", "net health status": "net_health", "ipaddr": "ip",
    "netmask": "ip", "default gateway": "gateway", "netdetect addr": "netdetect", "netdetect address": "netdetect",
    "fec mode": "fec", "link up count": "link_stat", "link down count": "link_stat", "current time": "link_stat",
}  # fmt: skip
# The cheap test: a line without any of these holds no value.
_NO_ADDRESS = lazy(r"\s*[Tt]here is no ip address\b")
_NO_FEC = lazy(r"\s*no FEC mode\s*$")
_WORDS = (
    "link", "net health", "ipaddr", "netmask", "gateway", "netdetect", "fec mode", "FEC mode", "tls ", "packet", "recv",
    "_num", "LINK ", "Power", "Flag", "Thres", "present", "SNR", "Bias", "Vcc", "temperature", "no ip address", "peed",
    "mtu", "address_", "_oct", "_pkg", "netmask_", "cqe_", "qp_", "Vendor", "current time", "dscp", "optical info",
)  # fmt: skip


def rows(lines: Sequence[str], first_line: int) -> tuple[Row, ...]:
    """The values of all outputs in the lines."""
    done: list[Row] = []
    asked: str | None = None
    host = ""
    loop = _Loop(())
    bare = optical = False
    for number, raw in enumerate(lines, first_line):
        if len(raw) > 2000:
            continue
        if "@" in raw and (prompt := _HOST.match(raw)) is not None:
            host = prompt["host"]
        if "for " in raw and (head := _LOOP.search(raw)) is not None:
            loop.end(done)
            loop = _Loop(_cards(head.groupdict()))
        if "hccn_tool" in raw and (command := _COMMAND.search(raw)) is not None and "-g" in command["options"]:
            card = _CARD.search(command["options"])
            asked, bare = card["npu"] if card is not None else None, False
            optical = "-optical" in command["options"]
            if _OF_LOOP.search(command["options"]) is None:
                loop.end(done)
                loop = _Loop(())
            continue
        if not any(word in raw for word in _WORDS):
            heading = _HEADING.match(raw)
            if heading is not None:
                # A bare number (people's loops echo it) heads what is right below it; nothing further down.
                asked, bare = heading["npu"], heading["mark"] is None and heading["word"] is None
            elif bare and raw.strip():
                asked, bare = None, False
            continue
        text = peel(raw).text
        npu = asked
        device = _DEVICE.match(text)
        if device is not None:
            npu, text = device["npu"], text[device.end() :]
        if text.strip() in ("optical info:", "packet statistics:"):
            optical = text.strip() == "optical info:"
            continue
        optical = optical or text.strip().startswith("present  ")
        for topic, key, value, unit, card_number in _values(text, optical):
            loop.take(key, len(done), card_number or npu)
            done.append(_row(number, topic, key, value, unit, card_number or npu, host))
    loop.end(done)
    return (*reversed([*_dated(done)]), *_differing(done), *_weak(done))


def _cards(loop: Mapping[str, str | None]) -> tuple[str, ...]:
    """The numbers that a loop runs over."""
    if loop["each"]:
        return tuple(loop["each"].split())
    first, last = loop["low"] or loop["from"] or "1", loop["high"] or loop["to"] or "0"
    return tuple(map(str, range(int(first), int(last) + 1)))


class _Loop:
    """What a loop over cards printed: the first key of an output comes again with the next card's."""

    def __init__(self, cards: tuple[str, ...]) -> None:
        self._cards = cards
        self._key = ""
        self._outputs: list[list[int]] = []  # of each card, which rows are its

    def take(self, key: str, at: int, npu: str | None) -> None:
        if not self._cards or npu is not None:
            return
        self._key = self._key or key
        if key == self._key:
            self._outputs.append([])
        self._outputs[-1].append(at)

    def end(self, done: list[Row]) -> None:
        """The rows get their card; none does where a card printed nothing, for then nobody knows which."""
        if len(self._outputs) == len(self._cards):
            for card, output in zip(self._cards, self._outputs, strict=True):
                for at in output:
                    done[at] = done[at]._replace(cells=(*done[at].cells, ("npu", card)))


def _differing(done: Sequence[Row]) -> Iterator[Row]:
    """A row a card whose own address is not that of hccn.conf; nothing where a text shows two of one card: of several nodes, perhaps."""
    told: dict[tuple[str, str, str], dict[str, int]] = {}
    for row in done:
        cells = dict(row.cells)
        where = "card" if cells["key"] == "ipaddr" else "file" if cells["key"].startswith("address_") else ""
        if where and "npu" in cells and _ADDRESS.match(cells["value"]):
            told.setdefault((cells.get("host", ""), cells["npu"], where), {})[cells["value"]] = row.line
    if any(len(values) > 1 for values in told.values()):
        return
    for host, npu in [(host, npu) for host, npu, where in told if where == "card" and (host, npu, "file") in told]:
        ((card, line),), (file,) = told[host, npu, "card"].items(), told[host, npu, "file"]
        if card != file:
            row = _row(line, "hccn.conf", "differs", file, "", npu, host)
            yield row._replace(cells=(*row.cells, ("file", file), ("card", card)))


def _dated(done: Sequence[Row]) -> Iterator[Row]:
    """The rows; how often a link went down with the time of its newest LINK DOWN, which stands below the count. No unit is a time."""
    newest: dict[tuple[str | None, str | None], str] = {}
    for row in reversed(done):
        of = (row.get("host"), row.get("npu"))
        if row.get("key") == "link change":
            if row.get("value") == "LINK DOWN":
                newest[of] = row.get("unit") or ""
            row = row._replace(cells=tuple((name, "" if name == "unit" else cell) for name, cell in row.cells))
        elif (row.get("key") or "").lower() == "link down count" and of in newest:
            row = row._replace(cells=(*row.cells, ("at", newest.pop(of))))
        yield row


def _weak(done: Sequence[Row]) -> Iterator[Row]:
    """A row a card that receives less light than the low threshold of its own module; one whose port is dark is told by the power itself."""
    light: dict[tuple[str | None, str | None], list[tuple[float, Row]]] = {}
    for row in done:
        if row.get("topic") != "optical" or row.get("unit") != "mW":
            continue
        of = (row.get("host"), row.get("npu"))
        key, value = row.get("key") or "", row.get("value") or ""
        if not _NUMBER.match(value):
            continue
        if _RECEIVED.match(key):
            light.setdefault(of, []).append((float(value), row))
        elif _LEAST.match(key):
            for power, weak in light.pop(of, ()):
                if _DARK <= power < float(value):
                    cells = (("key", "weak light") if name == "key" else ("power" if name == "value" else name, cell) for name, cell in weak.cells)
                    yield weak._replace(cells=(*cells, ("low", value)))


def _row(number: int, topic: str, key: str, value: str, unit: str, npu: str | None, host: str = "") -> Row:
    cells = [("tool", "hccn_tool"), ("topic", topic), ("key", key), ("value", value), ("unit", unit)]
    if host:
        cells.append(("host", host))
    if npu is not None:
        cells.append(("npu", npu))
    return Row("key-value", number, tuple(cells))


def _values(text: str, optical: bool) -> Iterator[tuple[str, str, str, str, str | None]]:
    """(topic, key, value, unit, card) of one line; most lines hold one."""
    if (found := _VALUE.match(text)) is not None:
        key = found["key"]
        value = found["value"].split(", Iface", 1)[0]
        yield _TOPICS.get(key.lower(), key.lower()), key, value, "", None
    elif (tls := _TLS.match(text)) is not None:
        for found in _TLS_VALUE.finditer(text):
            yield "tls", found["key"].strip(), found["value"], found["unit"] or "", tls["npu"]
    elif (found := _COUNTER.match(text)) is not None:
        yield "stat", found["key"], found["value"], "", None
    elif (found := _CHANGE.match(text)) is not None:
        yield "link_stat", "link change", found["value"], found["time"], None
    elif (found := _LOSS.match(text)) is not None:
        yield "ping", "packets transmitted", found["sent"], "", None
        yield "ping", "packets received", found["got"], "", None
        yield "ping", "packet loss", found["loss"], "%", None
    elif (found := _CONF.match(text)) is not None:
        yield "hccn.conf", found["key"], found["value"], "", found["npu"]
    elif _NO_ADDRESS.match(text):
        yield "ip", "ipaddr", "none", "", None
    elif _NO_FEC.match(text):
        yield "fec", "fec mode", "no FEC mode", "", None
    elif (found := _OPTICAL.match(text)) is not None and (optical or found["key"].split()[-1] in ("Flag", "Thres")):
        yield "optical", found["key"], found["value"], found["unit"] or "", None
