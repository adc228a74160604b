"use strict";
// The list of problems and the one that is open. All that comes from the data is written as text: no markup is parsed.
(async () => {
  const at = (id) => document.getElementById(id);
  const runs = [], problems = [], byId = new Map();
  const STEP = 100;  // rows that are shown at a time: all of 800 take a phone long
  let rows = STEP, shown = [], sort = { by: "id", down: false };

  // An element with attributes and children; strings become text.
  const make = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const words = (status) => status.replaceAll("_", " ");
  const fragment = (problem) => "#" + encodeURIComponent(problem.id.toWellFormed ? problem.id.toWellFormed() : problem.id);

  // Text in which nothing hides: control, format and bidi characters are shown as escapes.
  const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u;
  const HIDDEN_RUNS = /((?:(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}])+)/u;
  const escape = (text) => Array.from(text, (c) => {
    const code = c.codePointAt(0);
    return code < 256 ? "\\x" + code.toString(16).padStart(2, "0")
      : code < 65536 ? "\\u" + code.toString(16).padStart(4, "0") : "\\U" + code.toString(16).padStart(8, "0");
  }).join("");
  const visible = (text) => !HIDDEN.test(text) ? [text] : text.split(HIDDEN_RUNS).map((part, number) =>
    number % 2 ? make("span", { class: "escape", title: "a character that is not visible" }, escape(part)) : part);
  const segments = (parts) => parts.flatMap((part) =>
    typeof part === "string" ? visible(part)
      : typeof part === "number" ? [make("span", { class: "omitted" }, `[… ${part} characters left out …]`)]
        : [make("mark", { title: "the answer that was found" }, ...visible(part[0]))]);

  // --- data ---

  const unpack = async () => {
    const bytes = Uint8Array.from(atob(at("data").textContent), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  };
  const chosen = (problem, run) => problem.runs.filter((one, number) => one && (run === "" || number === Number(run)));
  const samples = (one) => one.samples.reduce((sum, sample) => sum + sample.numbers.length, 0);
  const passedBy = (problem, run) => {
    const mine = chosen(problem, run);
    const passed = mine.reduce((sum, one) => sum + one.passed, 0);
    if (!mine.length) return "";
    return passed === 0 ? "none" : passed === mine.reduce((sum, one) => sum + samples(one), 0) ? "all" : "some";
  };
  const mostly = (one) => {
    const counts = new Map();
    for (const sample of one.samples)
      if (sample.status !== "passed") counts.set(sample.status, (counts.get(sample.status) || 0) + sample.numbers.length);
    return [...counts].sort((a, b) => b[1] - a[1]).map(([status]) => status)[0] || "";
  };

  // --- the list ---

  const collator = new Intl.Collator("en", { numeric: true });
  const value = (problem, by) => {
    if (!by.startsWith("run")) return problem[by];
    const one = problem.runs[Number(by.slice(3))];
    return one ? one.passed / samples(one) : null;
  };
  const compare = (a, b) => {
    const x = value(a, sort.by), y = value(b, sort.by);
    if (x === null || y === null) return (x === null) - (y === null) || a.number - b.number;
    const order = typeof x === "string" ? collator.compare(x, y) : x - y;
    return (sort.down ? -order : order) || a.number - b.number;
  };
  const rate = (one) => {
    if (!one) return make("td", { class: "unknown" }, "not in it");
    const number = samples(one), bar = make("span"), failing = mostly(one);
    bar.style.width = `${100 * one.passed / number}%`;
    return make("td", {}, make("span", { class: "rate" }, make("span", {}, `${one.passed}/${number}`),
      make("span", { class: "bar", "aria-hidden": "true" }, bar), make("span", { class: "mostly" }, words(failing))));
  };
  const columns = [...document.querySelectorAll("#problems thead button")].map((button) => button.dataset.sort);
  const row = (problem) => make("tr", {}, ...columns.map((by) => {
    if (by === "id") return make("th", { scope: "row" }, make("a", { href: fragment(problem) }, ...visible(problem.id)));
    if (by.startsWith("run")) return rate(problem.runs[Number(by.slice(3))]);
    if (by === "type") return make("td", {}, problem.type);
    if (by === "spread") return make("td", { class: "number" }, problem.spread ? `${Math.round(100 * problem.spread)} %` : "");
    return make("td", { class: "number" }, problem[by] === null ? "?" : String(problem[by]));
  }));
  const list = () => {
    document.querySelector("#problems tbody").replaceChildren(...shown.slice(0, rows).map(row));
    const left = shown.length - rows;
    at("more").hidden = left <= 0;
    at("more").textContent = `Show ${Math.min(STEP, left)} more of ${left} further problems`;
  };
  const filter = () => {
    rows = STEP;
    const text = at("filter-text").value.toLowerCase(), run = at("filter-run").value;
    const passed = at("filter-passed").value, status = at("filter-status").value, type = at("filter-type").value;
    const differ = at("filter-differ") && at("filter-differ").checked;
    shown = problems.filter((problem) =>
      (!text || problem.searched.includes(text)) && (run === "" || problem.runs[Number(run)])
      && (!passed || passedBy(problem, run) === passed) && (!type || problem.type === type) && (!differ || problem.spread > 0)
      && (!status || chosen(problem, run).some((one) => one.samples.some((sample) => sample.status === status))));
    shown.sort(compare);
    at("count").textContent = `${shown.length} of ${problems.length} problems`;
    list();
    for (const button of document.querySelectorAll("#problems thead button")) {
      const heading = button.closest("th");
      if (button.dataset.sort === sort.by) heading.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  };

  // --- one problem ---

  const code = (problem) => {
    const block = make("pre", { class: "code", tabindex: "0", "aria-label": "Code" }), tokens = problem.code;
    for (let i = 0; i < tokens.length; i += 2)
      block.append(tokens[i] ? make("span", { class: tokens[i] }, ...visible(tokens[i + 1])) : make("span", {}, ...visible(tokens[i + 1])));
    return block;
  };

  // Two texts as lists of nodes, with what is not in their longest common subsequence of tokens marked.
  const difference = (a, b) => {
    const split = (text) => text.match(/[\p{L}\p{N}_]+|\s+|[^]/gu) || [];
    const x = split(a), y = split(b);
    let head = 0, tail = 0;
    while (head < x.length && head < y.length && x[head] === y[head]) head++;
    while (tail < x.length - head && tail < y.length - head && x[x.length - 1 - tail] === y[y.length - 1 - tail]) tail++;
    const m = x.length - head - tail, n = y.length - head - tail;
    const keepX = new Array(x.length).fill(true), keepY = new Array(y.length).fill(true);
    keepX.fill(false, head, head + m);
    keepY.fill(false, head, head + n);
    if (m * n <= 250000) {
      const length = Array.from({ length: m + 1 }, () => new Uint16Array(n + 1));
      for (let i = m - 1; i >= 0; i--) for (let j = n - 1; j >= 0; j--)
        length[i][j] = x[head + i] === y[head + j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
      for (let i = 0, j = 0; i < m && j < n;) {
        if (x[head + i] === y[head + j]) keepX[head + i++] = keepY[head + j++] = true;
        else if (length[i + 1][j] >= length[i][j + 1]) i++;
        else j++;
      }
    }
    const marked = (tokens, keep) => {
      const nodes = [];
      for (let i = 0; i < tokens.length;) {
        let end = i;
        while (end < tokens.length && keep[end] === keep[i]) end++;
        const text = visible(tokens.slice(i, end).join(""));
        nodes.push(...(keep[i] ? text : [make("mark", { class: "differs" }, ...text)]));
        i = end;
      }
      return nodes;
    };
    return [marked(x, keepX), marked(y, keepY)];
  };
  const fact = (name, ...content) => make("div", {}, make("dt", {}, name), make("dd", {}, make("span", { class: "value" }, ...content)));
  const ranges = (numbers) => {
    const spans = [];
    for (const number of numbers) {
      const last = spans[spans.length - 1];
      if (last && last[1] === number - 1) last[1] = number;
      else spans.push([number, number]);
    }
    return spans.map(([a, b]) => a === b ? a : b === a + 1 ? `${a}, ${b}` : `${a}–${b}`).join(", ");
  };
  const sampleBlock = (problem, run, one, sample) => {
    const number = samples(one), passed = sample.status === "passed";
    const which = number === 1 ? "The sample" : `${sample.numbers.length === 1 ? "Sample" : "Samples"} ${ranges(sample.numbers)} of ${number}`;
    const block = make("article", { class: passed ? "sample passed" : "sample" },
      make("h5", {}, `${which}: `, make("span", { class: "verdict" }, words(sample.status))));
    if (sample.text)
      block.append(make("pre", { tabindex: "0", "aria-label": "Completion" },
        ...(sample.text.length ? segments(sample.text) : [make("span", { class: "omitted" }, "(empty)")])));
    const facts = make("dl", { class: "facts" });
    facts.append(fact("Answer", ...(sample.answer ? segments(sample.answer) : [make("span", { class: "omitted" }, "none")])));
    if (sample.reason) facts.append(fact("Reason", ...visible(sample.reason)));
    if (sample.obtained !== undefined) {
      const [ours, theirs] = passed ? [visible(sample.obtained), visible(problem.output)] : difference(sample.obtained, problem.output);
      const output = run.direction === "output";
      facts.append(fact(output ? "Predicted value" : "This call returns", ...ours));
      facts.append(fact(output ? "f returns" : "Asked for was", ...theirs));
    }
    block.append(facts);
    return block;
  };
  const link = (text, problem) => make("a", { href: fragment(problem) }, text);
  const draw = (problem) => {
    const heading = make("h3", { id: "title-problem", tabindex: "-1" }, ...visible(problem.id));
    const order = shown.includes(problem) ? shown : problems, here = order.indexOf(problem);
    const nav = make("nav", { "aria-label": "Problems" }, make("a", { href: "#section-explorer" }, "Back to the list"));
    if (here > 0) nav.append(link("Previous problem", order[here - 1]));
    if (here < order.length - 1) nav.append(link("Next problem", order[here + 1]));
    const facts = make("dl", { class: "facts" }, fact("Call", "f(", ...visible(problem.input), ")"),
      fact("f returns", ...visible(problem.output)));
    facts.append(fact("What makes it hard", [counted(problem.lines, "line"), `loops and branches: ${problem.branches}`, counted(problem.calls, "call"),
      ...(problem.executed === null ? [] : [`${counted(problem.executed, "line")} executed`]), `output of type ${problem.type}`].join(", ")));
    const article = at("problem");
    article.replaceChildren(nav, heading, code(problem), facts);
    problem.runs.forEach((one, number) => {
      if (!one) return;
      const run = runs[number];
      const section = make("section", { class: "run" }, make("h4", {}, `Run ${number + 1}: `, ...visible(run.name)),
        make("p", {}, `${run.direction} prediction, ${one.passed} of ${samples(one)} samples passed`
          + (run.answers ? "; the file holds answers only, no completions" : "")));
      if (one.prompt) section.append(make("details", {}, make("summary", {}, `Prompt of run ${number + 1}`),
        make("pre", { tabindex: "0", "aria-label": "Prompt" }, ...segments(one.prompt))));
      section.append(...one.samples.map((sample) => sampleBlock(problem, run, one, sample)));
      article.append(section);
    });
    return heading;
  };

  // --- what the address asks for ---

  let opened = null;
  const route = (event) => {
    let key = location.hash.slice(1);
    try { key = decodeURIComponent(key); } catch { /* as it stands */ }
    const problem = byId.get(key);
    at("list").hidden = Boolean(problem);
    at("problem").hidden = !problem;
    if (problem) {
      const heading = draw(problem);
      heading.focus({ preventScroll: true });
      at("problem").scrollIntoView();
    } else {
      at("problem").replaceChildren();
      if (opened && event && key === "section-explorer") {
        const last = [...document.querySelectorAll("#problems tbody a")].find((a) => a.getAttribute("href") === fragment(opened));
        (last || at("title-explorer")).focus();
      }
    }
    opened = problem || null;
  };

  let data;
  try {
    data = await unpack();
  } catch (error) {
    at("failed").hidden = false;
    return;
  }
  runs.push(...data.runs);
  data.problems.forEach((problem, number) => {
    problem.number = number;
    problem.searched = (problem.id + "\n" + problem.code.filter((_, i) => i % 2).join("")).toLowerCase();
    problems.push(problem);
    byId.set(problem.id, problem);
  });
  if (at("filter-differ")) sort = { by: "spread", down: true };
  at("filters").addEventListener("input", filter);
  at("filters").addEventListener("submit", (event) => event.preventDefault());
  at("filters").addEventListener("reset", () => setTimeout(filter));
  document.querySelector("#problems thead").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    const by = button.dataset.sort;
    sort = { by, down: sort.by === by ? !sort.down : by === "spread" };
    filter();
  });
  at("more").addEventListener("click", () => {
    const from = rows;
    rows += STEP;
    list();
    document.querySelectorAll("#problems tbody a")[from].focus();
  });
  addEventListener("hashchange", route);
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && opened) location.hash = "#section-explorer";
  });
  filter();
  route();
  document.documentElement.dataset.ready = "true";
})();
