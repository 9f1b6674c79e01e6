"""The interface that joins the nodes is taken from a list beside the log, not left as eth0."""

from __future__ import annotations

import pytest

from doctor import diagnose
from doctor.answer.report import report
from doctor.findings.interfaces import chosen
from kb.knowledge import Knowledge

IFCONFIG = "{name}: flags=4163<UP,BROADCAST,RUNNING,MULTICAST>  mtu 1500 inet {ip}  netmask 255.255.255.0"
IP = "inet {ip}/24 brd 10.0.0.255 scope global {name}"
BRIEF = "{name}             UP             {ip}/24"


@pytest.mark.parametrize("form", [IFCONFIG, IP, BRIEF])
def test_the_network_of_the_master_decides_among_several(form: str) -> None:
    told = [form.format(name="ens1f0", ip="192.0.2.7"), form.format(name="enp67s0f5", ip="10.33.4.12"), form.format(name="docker0", ip="10.33.4.1")]
    assert chosen(told, ["10.33.4.11"]) == {"interface": ("enp67s0f5",), "interface_ip": ("10.33.4.12",)}
    assert chosen(told, []) == {}
    assert chosen(told, ["10.99.0.1"]) == {}
    assert chosen(told[1:], ["node-a"])["interface"] == ("enp67s0f5",)


def test_hosts_that_call_it_alike_have_addresses_of_their_own() -> None:
    told = [IP.format(name="bond0", ip="10.33.4.12"), IP.format(name="bond0", ip="10.33.4.13")]
    assert chosen(told, ["10.33.4.12"]) == {"interface": ("bond0",)}
    assert chosen([*told, IP.format(name="eth2", ip="10.33.4.14")], ["10.33.4.12"]) == {}


@pytest.mark.parametrize("row", ["", "inet 999.1.1.1/24 scope global eth0", "inet 10.0.0.1/77 scope global eth0", "UP UP UP", IP.format(name="veth1@if4", ip="10.0.0.3")])
def test_what_is_no_interface_that_others_reach_tells_nothing(row: str) -> None:
    assert chosen([row], []) == {}


def test_the_advice_names_it(knowledge: Knowledge) -> None:
    text = (
        "$ export MASTER_ADDR=10.33.4.11\n"
        "3: enp67s0f5: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP\n    inet 10.33.4.12/24 brd 10.33.4.255 scope global enp67s0f5\n"
        "[INFO] HCCL(5120,python):2025-11-22-10:29:40.118.310 [sal.cc:440] [5120]find nic[br-7f2a] success, host ip[172.18.0.1]\n"
        "[ERROR] HCCL(5120,python):2025-11-22-10:31:40.978.979 [topoinfo_exchange_agent.cc:190] [5120]topo exchange agent get socket timeout! timeout[120]\n"
    )
    root = next(f for f in report(diagnose(text), knowledge)["findings"] if f["id"] == "HCL005")
    assert "enp67s0f5" in str(root["fixes"])
    assert "eth0" not in str(root["fixes"])
