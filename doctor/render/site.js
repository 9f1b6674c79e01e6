"use strict";
// The search of the site: no server, no network. INDEX is a row for each page: [id, kind, address, title, words].
(function () {
  var box = document.getElementById("search"), list = document.getElementById("found"), told = document.getElementById("told");
  if (!box || typeof INDEX === "undefined") return;
  var MOST = 60;
  var rows = INDEX.map(function (row) {
    return { row: row, id: row[0].toLowerCase(), title: row[3].toLowerCase(), words: row[4].toLowerCase() };
  });
  // A number may be written 0x7bc0a, 507018 or ret=507018: what follows the last sign of equality counts, and hexadecimal as decimal, too.
  function terms(typed) {
    return typed.toLowerCase().split(/[\s,;:="'()\[\]]+/).filter(Boolean).map(function (word) {
      var also = /^0x[0-9a-f]{1,13}$/.test(word) ? String(parseInt(word, 16)) : "";
      return also && also !== word ? [word, also] : [word];
    });
  }
  function one(entry, word) {
    if (entry.id === word) return 100;
    if (entry.id.indexOf(word) === 0) return 40;
    var at = entry.title.indexOf(word);
    if (at >= 0) return at === 0 || /[^a-z0-9_]/.test(entry.title[at - 1]) ? 20 : 12;
    return entry.words.indexOf(word) >= 0 ? 5 : 0;
  }
  function score(entry, words) {
    var sum = 0, met = 0;
    words.forEach(function (spellings) {
      var best = Math.max.apply(null, spellings.map(function (word) { return one(entry, word); }));
      if (best) met += 1;
      sum += best;
    });
    if (met * 2 < words.length || !met) return 0;
    return sum * met / words.length + (entry.row[1] === "entry" ? 2 : 0);
  }
  function show() {
    var words = terms(box.value), found = [];
    document.body.classList.toggle("searching", words.length > 0);
    if (words.length) rows.forEach(function (entry) {
      var points = score(entry, words);
      if (points) found.push([points, entry]);
    });
    found.sort(function (a, b) { return b[0] - a[0] || (a[1].id < b[1].id ? -1 : 1); });
    list.textContent = "";
    found.slice(0, MOST).forEach(function (pair) {
      var row = pair[1].row, item = document.createElement("li"), link = document.createElement("a"), code = document.createElement("span");
      code.className = "code";
      code.textContent = row[0];
      link.href = row[2];
      link.append(code, " " + row[3]);
      item.append(link);
      list.append(item);
    });
    told.textContent = words.length ? found.length + (found.length > MOST ? " (" + MOST + ")" : "") : "";
    if (history.replaceState) try { history.replaceState(null, "", box.value ? "#q=" + encodeURIComponent(box.value) : location.pathname); } catch (e) { /* a file: address may not be changed everywhere */ }
  }
  function asked() {
    var match = /^#q=(.*)$/.exec(location.hash);
    if (!match) return;
    try { box.value = decodeURIComponent(match[1]); } catch (e) { box.value = match[1]; }
    show();
  }
  box.addEventListener("input", show);
  box.addEventListener("keydown", function (event) {
    var first = list.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    if (event.key === "Escape") { box.value = ""; show(); }
  });
  window.addEventListener("hashchange", asked);
  document.addEventListener("keydown", function (event) {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus(); }
  });
  asked();
})();
