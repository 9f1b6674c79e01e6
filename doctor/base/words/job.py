"""What is told of who waited for whom."""

from __future__ import annotations

WORDS = {
    "notify": ("{by} gives up waiting for {on}", "{by} 等待 {on} 超时"),
    "link": ("{by} cannot connect to {on}", "{by} 与 {on} 建链失败"),
    "agent": ("{by} cannot reach the root ({on})", "{by} 连接不到 root（{on}）"),
    "server": ("{by} misses {on}", "{by} 等不到 {on} 接入"),
    "lost": ("{by} learns that the heartbeat of {on} is lost", "{by} 得知 {on} 心跳丢失"),
    "stuck": ("{by} learns that {on} is stuck", "{by} 得知 {on} 卡住"),
    "cqe": ("{by} has an error cqe towards {on}", "{by} 到 {on} 出现 error cqe"),
    "watchdog": ("{by}: watchdog timeout", "{by}: watchdog 超时"),
}  # fmt: skip
