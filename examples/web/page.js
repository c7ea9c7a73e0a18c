"use strict";

const [LAYERS, HEADS, TOKENS, CLASSES] = [2, 4, 17, 10];
const element = (id) => document.getElementById(id);
const numbers = (n) => [...Array(n).keys()];
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const tokenName = (token) => token === 0 ? "the answer token"
  : `the patch in row ${((token - 1) >> 2) + 1}, column ${((token - 1) & 3) + 1}`;

/** Makes an element below another. */
function make(parent, tag, properties = {}) {
  return parent.appendChild(Object.assign(document.createElement(tag), properties));
}

async function start() {
  const bytes = Uint8Array.from(atob(element("module").textContent.trim()), (character) => character.charCodeAt(0));
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const wasm = instance.exports;
  const reader = wasm.reader();
  // The module's memory never grows, so that these stay where the results are.
  const floats = (place, count) => new Float32Array(wasm.memory.buffer, place, count);
  const image = new Uint8Array(wasm.memory.buffer, wasm.image(reader), 64);
  const probabilities = floats(wasm.probabilities(reader), CLASSES);
  const attention = floats(wasm.attention(reader), LAYERS * HEADS * TOKENS * TOKENS);
  /** What a token of a layer and head gives to each token. */
  const row = (layer, head, token) => attention.subarray(((layer * HEADS + head) * TOKENS + token) * TOKENS).subarray(0, TOKENS);

  element("size").textContent = `${(bytes.length / 1000).toFixed(1)} kB`;
  element("size").dataset.bytes = bytes.length;
  element("parameters").textContent = wasm.parameters().toLocaleString("en");

  // What there is to see.
  const bars = numbers(CLASSES).map((digit) => {
    const item = make(element("probabilities"), "li");
    make(item, "span", { textContent: digit });
    make(item, "i");
    return { item, share: make(item, "data") };
  });
  for (const token of numbers(TOKENS).slice(1)) {
    const label = make(element("patches"), "label", { title: tokenName(token) });
    make(label, "input", { type: "radio", name: "token", value: token }).setAttribute("aria-label", tokenName(token));
  }
  const figures = (id, width, height) => numbers(LAYERS).map((layer) => {
    const part = make(element(id), "div", { className: "layer" });
    make(part, "h3", { textContent: `Layer ${layer + 1}` });
    return numbers(HEADS).map((head) => {
      const figure = make(part, "figure");
      make(figure, "figcaption", { textContent: `Head ${head + 1}` });
      const canvas = make(figure, "canvas", { width: 2 * width, height: 2 * height }); // sharp on fine screens
      canvas.getContext("2d").scale(2, 2);
      canvas.setAttribute("role", "img");
      return canvas;
    });
  });
  const maps = figures("maps", 304, 346);
  const matrices = figures("matrices", 308, 308);

  const paper = element("paper");
  let strokes = [];
  let colours = {};

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    colours = { text: colour("--text"), line: colour("--line"), accent: colour("--accent"), rgb: colour("--accent-rgb") };
  }
  /** Of a share of the attention: its square root, since most shares are small. */
  const shade = (share) => `rgb(${colours.rgb} / ${Math.sqrt(share)})`;

  function drawPaper() {
    const context = paper.getContext("2d");
    context.clearRect(0, 0, paper.width, paper.height);
    Object.assign(context, { lineWidth: 0.055 * paper.width, lineCap: "round", lineJoin: "round", strokeStyle: colours.text });
    for (const stroke of strokes) {
      context.beginPath();
      for (const [x, y] of [stroke[0], ...stroke]) context.lineTo(x * paper.width, y * paper.height);
      context.stroke();
    }
  }

  /** The pixels as squares, the larger the darker. */
  function drawPixels(context, side) {
    context.fillStyle = colours.text;
    image.forEach((pixel, i) => {
      const size = side * Math.sqrt(pixel / 16) * 0.86;
      const at = (cell) => (cell + 0.5) * side - size / 2;
      context.fillRect(at(i & 7), at(i >> 3), size, size);
    });
  }

  function drawImage() {
    const canvas = element("image");
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.strokeStyle = colours.line;
    for (const i of numbers(5)) {
      const at = Math.min(Math.max(i * 80, 1), 319);
      context.strokeRect(at, -1, 0, 322);
      context.strokeRect(-1, at, 322, 0);
    }
    image.forEach((pixel, i) => {
      context.globalAlpha = pixel / 16;
      context.fillStyle = colours.text;
      context.fillRect(40 * (i & 7) + 1, 40 * (i >> 3) + 1, 38, 38);
    });
    context.globalAlpha = 1;
  }

  /** Where `token` looks, and below it how much of that goes to the answer token. */
  function drawMap(canvas, weights, label) {
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    for (const patch of numbers(16)) {
      context.fillStyle = shade(weights[patch + 1]);
      context.fillRect(76 * (patch & 3) + 1, 76 * (patch >> 2) + 1, 74, 74);
    }
    context.globalAlpha = 0.5;
    drawPixels(context, 38);
    context.globalAlpha = 1;
    context.fillStyle = shade(weights[0]);
    context.fillRect(1, 312, 302, 33);
    context.strokeStyle = colours.line;
    context.strokeRect(1, 312, 302, 33);
    const most = weights.indexOf(Math.max(...weights));
    canvas.setAttribute("aria-label", strokes.length === 0 ? `${label}: nothing drawn`
      : `${label}: most, ${percent(weights[most])}, goes to ${tokenName(most)}`);
  }

  function drawMatrix(canvas, rowOf, chosen, label) {
    const context = canvas.getContext("2d");
    context.clearRect(0, 0, canvas.width, canvas.height);
    const at = (token) => 18 * token + (token > 0 ? 2 : 0);
    for (const token of numbers(TOKENS)) {
      rowOf(token).forEach((share, other) => {
        context.fillStyle = shade(share);
        context.fillRect(at(other), at(token), 18, 18);
      });
    }
    Object.assign(context, { strokeStyle: colours.text, lineWidth: 2 });
    if (strokes.length > 0) context.strokeRect(1, Math.max(at(chosen), 1), 306, 17);
    canvas.setAttribute("aria-label", `${label}: what each of 17 tokens gives to each; the row of ${tokenName(chosen)} is framed`);
  }

  /** Reads what is drawn, and shows all. */
  function show() {
    const drawn = strokes.length > 0;
    wasm.rasterize(reader);
    wasm.read(reader);
    if (!drawn) {
      probabilities.fill(0);
      attention.fill(0);
    }
    const best = probabilities.indexOf(Math.max(...probabilities));
    const chosen = Number(document.querySelector("input[name=token]:checked").value);
    element("hint").hidden = drawn;
    element("digit").textContent = drawn ? best : "–";
    element("digit").classList.toggle("none", !drawn);
    bars.forEach(({ item, share }, digit) => {
      item.classList.toggle("best", drawn && digit === best);
      item.style.setProperty("--share", probabilities[digit]);
      Object.assign(share, { value: probabilities[digit], textContent: drawn ? percent(probabilities[digit]) : "" });
    });
    const name = tokenName(chosen);
    element("who").textContent = `Now ${name} looks.`;
    drawPaper();
    drawImage();
    for (const layer of numbers(LAYERS)) {
      for (const head of numbers(HEADS)) {
        const label = `Layer ${layer + 1}, head ${head + 1}`;
        drawMap(maps[layer][head], row(layer, head, chosen), label);
        drawMatrix(matrices[layer][head], (token) => row(layer, head, token), chosen, label);
      }
    }
  }

  let waiting = 0;
  /** Shows all with the next frame. */
  function soon() {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      show();
    });
  }

  /** The time of one of many runs, since a browser's clock is coarse; the median of five. */
  function measure() {
    const time = (runs) => {
      const before = performance.now();
      wasm.repeat(reader, runs);
      return performance.now() - before;
    };
    let runs = 32;
    while (time(runs) < 10 && runs < 1e6) runs *= 2;
    const times = numbers(5).map(() => 1000 * time(runs) / runs).sort((a, b) => a - b);
    element("time").textContent = `${times[2].toFixed(times[2] < 10 ? 1 : 0)} µs`;
    element("time").dataset.microseconds = times[2];
    element("runs").textContent = `median of 5 × ${runs.toLocaleString("en")}`;
  }

  // Drawing.
  function pen(x, y, onPaper) {
    if (!wasm.pen(reader, x, y, onPaper)) return;
    if (!onPaper) strokes.push([]);
    strokes.at(-1).push([x, y]);
    soon();
  }

  function lift() {
    show();
    element("spoken").textContent = `Read as ${element("digit").textContent}, ${percent(Math.max(...probabilities))}`;
    setTimeout(measure, 50);
  }

  function clear() {
    strokes = [];
    pointer = null;
    cancelAnimationFrame(example);
    wasm.clear(reader);
    element("spoken").textContent = "Cleared";
    show();
  }

  let pointer = null;
  const place = (event) => {
    const { left, top, width, height } = paper.getBoundingClientRect();
    return [(event.clientX - left) / width, (event.clientY - top) / height];
  };
  paper.addEventListener("pointerdown", (event) => {
    if (pointer !== null || event.button !== 0) return;
    event.preventDefault();
    cancelAnimationFrame(example);
    pointer = event.pointerId;
    paper.setPointerCapture(pointer);
    pen(...place(event), false);
  });
  paper.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointer) return;
    for (const moved of event.getCoalescedEvents?.() ?? [event]) {
      const [x, y] = place(moved);
      const [lastX, lastY] = strokes.at(-1).at(-1);
      if (Math.hypot(x - lastX, y - lastY) > 0.004) pen(x, y, true);
    }
  });
  for (const end of ["pointerup", "pointercancel"]) {
    paper.addEventListener(end, (event) => {
      if (event.pointerId !== pointer) return;
      pointer = null;
      lift();
    });
  }
  element("clear").addEventListener("click", clear);

  // Examples: each digit once, then again.
  const digits = JSON.parse(element("strokes").textContent);
  let example = 0;
  let next = Math.floor(Math.random() * digits.length);
  element("example").addEventListener("click", () => {
    clear();
    const points = digits[next].flatMap((stroke) => stroke.map(([x, y], i) => [x, y, i > 0]));
    next = (next + 1) % digits.length;
    const step = matchMedia("(prefers-reduced-motion: reduce)").matches ? points.length : 1;
    const draw = () => {
      points.splice(0, step).forEach((point) => pen(...point));
      if (points.length > 0) example = requestAnimationFrame(draw);
      else lift();
    };
    draw();
  });

  // Who looks.
  document.querySelector(".pixels").addEventListener("change", show);
  matrices.flat().forEach((canvas) => canvas.addEventListener("click", (event) => {
    const { top, height } = canvas.getBoundingClientRect();
    const token = Math.min(TOKENS - 1, Math.max(0, Math.floor((event.clientY - top) / height * TOKENS)));
    document.querySelector(`input[name=token][value="${token}"]`).checked = true;
    show();
  }));

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    readColours();
    show();
  });
  readColours();
  show();
  setTimeout(measure, 100);
  globalThis.digits = { wasm, reader, image, probabilities, attention }; // for the console, and for `test`
}

start().catch((error) => {
  element("failure").hidden = false;
  element("failure").textContent = `This browser cannot run the model; it takes WebAssembly with SIMD. (${error.message})`;
});
