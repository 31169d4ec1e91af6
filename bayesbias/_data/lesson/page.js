// The page of the lesson. It follows averaging.js in the same module, and uses its functions.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = (id) => document.getElementById(id);
// One meaning for each color: associated and different, lower and higher, missed (ink) and contained.
const COLOR = {
  associated: "#D55E00",
  different: "#0072B2",
  lower: [118, 42, 131],
  higher: [27, 120, 55],
  contained: "#A9ADB5",
  ink: "#222222",
  faint: "#767676",
};
const SIZES = [2, 4, 8, 16, 32];
const TABLES = 400;
const LEVEL = 0.05;
/** Where the sliders of part 3 stand at first; sizes are places in SIZES. */
const AT_FIRST = { words: 2, attributes: 2, "word-sd": 0.03, "attribute-sd": 0.04, "pair-sd": 0.08, difference: 0 };

// ---- Numbers in words ----

const signed = (value, digits) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(digits);
const bracket = ([low, high], digits = 3) => `[${signed(low, digits)}, ${signed(high, digits)}]`;

function pInWords(p) {
  if (p >= 0.001) return p.toFixed(3).replace(/^0/, "");
  const [digits, power] = p.toExponential(1).split("e-");
  return `${digits} × 10⁻${[...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]).join("")}`;
}

// ---- Drawing ----

function picture(holder, width, height, label, body) {
  holder.innerHTML =
    `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${label}">${body}</svg>`;
}

const text = (x, y, words, more = "") => `<text x="${x}" y="${y}" ${more}>${words}</text>`;
const widthOf = (holder) => Math.max(260, Math.floor(holder.clientWidth || 640));

function axis(scale, ticks, y, digits, end = ticks.at(-1)) {
  let body = `<line x1="${scale(ticks[0])}" x2="${scale(end)}" y1="${y}" y2="${y}" stroke="${COLOR.faint}"/>`;
  for (const tick of ticks) {
    body += `<line x1="${scale(tick)}" x2="${scale(tick)}" y1="${y}" y2="${y + 5}" stroke="${COLOR.faint}"/>`;
    body += text(scale(tick), y + 19, signed(tick, digits), 'class="small" text-anchor="middle"');
  }
  return body;
}

// ---- 1. From all pairs to one number ----

const real = {
  distances: data.gender.distances.flat(),
  x: data.gender.x,
  y: data.gender.words.length - data.gender.x,
  a: data.gender.a,
  b: data.gender.attributes.length - data.gender.a,
};
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const shareOfGrid = (row, column) => (row < real.x) === (column < real.a);

function pointsOfWord(row, associated) {
  return data.gender.distances[row].filter((_, column) => shareOfGrid(row, column) === associated);
}

function mark(x, y, associated, size, opacity = 1) {
  const color = associated ? COLOR.associated : COLOR.different;
  if (associated) return `<circle cx="${x}" cy="${y}" r="${size}" fill="${color}" opacity="${opacity}"/>`;
  const side = 1.8 * size;
  return `<rect x="${x - side / 2}" y="${y - side / 2}" width="${side}" height="${side}" fill="${color}" opacity="${opacity}"/>`;
}

const WORDS_OF_STEPS = [
  "Nothing is lost. Look along one row: the attributes of one word are spread over much of the scale.",
  "Lost: the attributes. You no longer see how much they differ, and which of them are close.",
  "Lost: the words. You no longer see that some words show the difference and others hardly do.",
  "Lost: the classes, and every sign of how much anything varies.",
];

function drawPoints() {
  const step = Number(document.querySelector('input[name="step"]:checked').value);
  const holder = byId("points-figure");
  const width = widthOf(holder);
  const left = 78;
  const all = real.distances;
  const first = Math.floor(10 * Math.min(...all)) / 10;
  const last = Math.ceil(10 * Math.max(...all)) / 10;
  const scale = (value) => left + ((value - first) / (last - first)) * (width - left - 12);
  const tick = width > 480 ? 0.1 : 0.2;
  const ticks = [];
  for (let value = first; value < last + 0.01; value += tick) ticks.push(value);
  const classes = [[0, real.x], [real.x, real.x + real.y]].map(([first, last]) => ({
    rows: data.gender.words.map((_, row) => row).slice(first, last),
  }));
  let body = "";
  let y = 16;
  const line = (name, values) => {
    body += text(left - 10, y + 4, name, 'text-anchor="end"');
    body += `<line x1="${left}" x2="${width - 8}" y1="${y}" y2="${y}" stroke="#eeeeee"/>`;
    for (const associated of [true, false]) {
      const height = y + (associated ? -4.5 : 4.5);
      const shown = values(associated);
      for (const value of shown) {
        body += mark(scale(value), height, associated, step === 0 ? 3.4 : 5.5, step === 0 ? 0.6 : 1);
      }
    }
    y += step < 2 ? 25 : 46;
  };
  if (step < 2) {
    classes.forEach(({ rows }, k) => {
      for (const row of rows) {
        line(data.gender.words[row], (associated) => {
          const values = pointsOfWord(row, associated);
          return step === 0 ? values : [mean(values)];
        });
      }
      if (k === 0) y += 10;
    });
  } else {
    const average = (rows, associated) => mean(rows.flatMap((row) => pointsOfWord(row, associated)));
    y += 8;
    if (step === 2) {
      classes.forEach(({ rows }, k) => line(data.gender.classes[k], (associated) => [average(rows, associated)]));
    } else {
      const rows = data.gender.words.map((_, row) => row);
      const [one, two] = [average(rows, true), average(rows, false)];
      const level = y;
      line("all", (associated) => [associated ? one : two]);
      body += `<line x1="${scale(one)}" x2="${scale(two)}" y1="${level + 18}" y2="${level + 18}" stroke="${COLOR.ink}" stroke-width="2"/>`;
      body += text(scale(two) + 8, level + 22, signed(one - two, 3), 'font-weight="600"');
    }
  }
  body += axis(scale, ticks, y, 1, last);
  body += text((left + width) / 2, y + 38, "cosine distance", 'class="small" text-anchor="middle"');
  picture(holder, width, y + 46, `Distances of protected words: ${WORDS_OF_STEPS[step]}`, body);
  const caption = byId("points-caption");
  if (caption.textContent !== WORDS_OF_STEPS[step]) caption.textContent = WORDS_OF_STEPS[step];
}

// ---- 2. Sentences and nouns ----

/** White at zero, purple below and green above. */
function shade(value) {
  const end = value < 0 ? COLOR.lower : COLOR.higher;
  const share = Math.min(1, Math.abs(value) / 0.25);
  return `rgb(${end.map((channel) => Math.round(255 + (channel - 255) * share))})`;
}

function drawStripes() {
  const count = Number(byId("professions").value);
  const { differences, nouns } = data.sentences;
  const holder = byId("stripes-figure");
  const width = widthOf(holder);
  const narrow = width < 480;
  const left = narrow ? 150 : 190;
  const cell = (width - left) / 20;
  const height = narrow ? 15 : 19;
  let body = "";
  nouns.forEach((noun, row) => {
    body += text(left - 6, row * height + height / 2 + 4, noun, `text-anchor="end" ${narrow ? 'class="tiny"' : ""}`);
    differences[row].forEach((value, column) => {
      const faded = column < count ? "" : ' opacity="0.12"';
      body += `<rect x="${left + column * cell}" y="${row * height}" width="${cell - 1}" height="${height - 1}" fill="${shade(value)}" stroke="#e6e6e6" stroke-width="0.5"${faded}/>`;
    });
  });
  picture(holder, width, nouns.length * height + 2, "Differences of 400 sentences: rows are striped, each nearly of one color", body);

  const used = differences.map((row) => row.slice(0, count));
  const sentences = oneSample(used.flat());
  const means = oneSample(used.map(mean));
  byId("professions-value").textContent = count;
  byId("sentences-n").textContent = 20 * count;
  byId("sentences-mean").textContent = signed(sentences.estimate, 3);
  byId("sentences-p").textContent = pInWords(sentences.p);
  const open = answersOpened.has("guess-stripes");
  byId("nouns-mean").textContent = open ? signed(means.estimate, 3) : "?";
  byId("nouns-p").textContent = open ? pInWords(means.p) : "?";
}

// ---- 3 and 4. Simulated tables ----

let seed = 1;
let telling = 0;

/** Move sliders of part 3. */
function setSliders(values) {
  for (const [name, value] of Object.entries(values)) byId(name).value = value;
  drawTables();
}

/** Whether words and attributes do not differ, so that pairs are independent. */
const pairsAreIndependent = ({ wordSd, attributeSd }) => wordSd === 0 && attributeSd === 0;

function settingsOfSliders() {
  return {
    words: SIZES[byId("words").value],
    attributes: SIZES[byId("attributes").value],
    wordSd: Number(byId("word-sd").value),
    attributeSd: Number(byId("attribute-sd").value),
    pairSd: Number(byId("pair-sd").value),
    difference: Number(byId("difference").value),
    tables: TABLES,
    prob: 1 - LEVEL,
    seed,
  };
}

function drawTables() {
  const settings = settingsOfSliders();
  const result = simulate(settings);
  const { words, attributes, difference } = settings;
  for (const [name, value] of [["words", words], ["attributes", attributes]]) {
    byId(`${name}-value`).textContent = value;
    byId(name).setAttribute("aria-valuetext", value);
  }
  for (const name of ["word-sd", "attribute-sd", "pair-sd", "difference"]) {
    byId(`${name}-value`).textContent = signed(Number(byId(name).value), 2);
  }
  const counted = {
    pairs: `${4 * words * attributes}`,
    manzini: `${2 * words}`,
    weat: `${2 * words}`,
    words: `${2 * words}`,
    crossed: `${2 * words} and ${2 * attributes}`,
  };
  const nothing = difference === 0;
  const heading = nothing ? "False alarms: tables with p < .05" : "Tables with p < .05 (the difference is there)";
  byId("alarms-caption").textContent = heading;
  const told = [];
  for (const [name, values] of Object.entries(result.p)) {
    const count = countBelow(values, LEVEL);
    const row = byId(`row-${name}`);
    const share = `${((100 * count) / TABLES).toFixed(1)}%`;
    row.querySelector(".counts").textContent = counted[name];
    row.querySelector(".share").textContent = share;
    row.querySelector(".share").dataset.count = count;
    const bar = row.querySelector(".bar");
    bar.firstElementChild.style.width = share;
    // Two standard errors above the level: more than chance.
    bar.classList.toggle("high", nothing && count / TABLES > LEVEL + 2 * Math.sqrt((LEVEL * (1 - LEVEL)) / TABLES));
    told.push(`${row.querySelector("th").textContent}: ${share}`);
  }
  showIndependence(settings, told);
  drawIntervals(result, difference);
  clearTimeout(telling);
  telling = setTimeout(() => {
    byId("told").textContent = `${heading}. ${told.join(". ")}.`;
  }, 700);
}

/** Say with which values tables were drawn, and what follows if both SDs are 0. */
function showIndependence(settings, shares) {
  const { words, attributes, wordSd, attributeSd, pairSd, difference } = settings;
  const independent = pairsAreIndependent(settings);
  byId("independent").hidden = !(independent && difference === 0);
  byId("independent-shares").textContent = shares.join(", ").replaceAll(":", "");
  byId("no-sds-note").hidden = !independent;
  const label = independent
    ? `Set the SDs back to ${AT_FIRST["word-sd"]} and ${AT_FIRST["attribute-sd"]}`
    : "Set both SDs to 0";
  for (const button of document.querySelectorAll(".no-sds")) button.textContent = label;
  byId("drawn-with").textContent =
    `Drawn with ${words} words a class and ${attributes} attributes a set. ` +
    `SDs: ${wordSd.toFixed(2)} (words), ${attributeSd.toFixed(2)} (attributes), ${pairSd.toFixed(2)} (pairs). ` +
    `True difference: ${signed(difference, 2)}.`;
}

function drawIntervals(result, truth) {
  const order = result.estimates.map((_, place) => place);
  order.sort((one, two) => result.estimates[one] - result.estimates[two]);
  // Both panels have one scale: that of nearly all ends.
  const ends = Object.values(result.intervals).flat(2).map((end) => Math.abs(end - truth));
  const far = Float64Array.from(ends).sort()[Math.floor(0.98 * ends.length)];
  const step = [0.02, 0.05, 0.1, 0.2, 0.5, 1].find((size) => far / size <= 2.6) || 2;
  const reach = Math.max(far, step);
  let anyCut = false;
  for (const [name, intervals] of Object.entries(result.intervals)) {
    const holder = byId(`${name}-figure`);
    const width = widthOf(holder);
    const height = 300;
    const middle = width / 2;
    const scale = (value) => middle + ((value - truth) / reach) * (middle - 14);
    const cut = (x) => Math.min(width - 1, Math.max(1, x)).toFixed(1);
    const paths = { hit: "", miss: "" };
    let arrows = "";
    order.forEach((place, row) => {
      const [low, high] = intervals[place];
      const y = (4 + (row / TABLES) * (height - 8)).toFixed(1);
      paths[low <= truth && truth <= high ? "hit" : "miss"] += `M${cut(scale(low))} ${y}H${cut(scale(high))}`;
      if (scale(low) < 1) arrows += `M0 ${y}l5 -3v6z`;
      if (scale(high) > width - 1) arrows += `M${width} ${y}l-5 -3v6z`;
    });
    const covering = countCovering(intervals, truth);
    const ticks = [-2, -1, 0, 1, 2].map((count) => truth + count * step).filter((tick) => Math.abs(tick - truth) <= reach);
    anyCut ||= arrows !== "";
    let body = `<path d="${paths.hit}" stroke="${COLOR.contained}" stroke-width="0.8"/>`;
    body += `<path d="${paths.miss}" stroke="${COLOR.ink}" stroke-width="1.4"/>`;
    body += `<path class="arrows" d="${arrows}" fill="${COLOR.faint}"/>`;
    body += `<line x1="${middle}" x2="${middle}" y1="0" y2="${height}" stroke="${COLOR.ink}" stroke-width="1.5" stroke-dasharray="5 4"/>`;
    body += axis(scale, ticks, height + 2, step < 0.1 ? 2 : 1);
    const share = `${((100 * covering) / TABLES).toFixed(1)}%`;
    picture(holder, width, height + 26, `400 intervals, ${share} contain the truth`, body);
    const line = byId(`${name}-coverage`);
    line.innerHTML = `<b>${share}</b> contain the truth (${covering} of 400).`;
    line.dataset.count = covering;
  }
  byId("cut-note").hidden = !anyCut;
}

function fillReal() {
  for (const [name, test] of [["pairs", pairsTest(real)], ["crossed", crossedTest(real)]]) {
    byId(`real-${name}`).textContent = signed(test.estimate, 3);
    byId(`real-${name}-interval`).textContent = bracket(interval(test, 0.95));
  }
}

// ---- Guesses ----

/** The guesses whose answers were opened once. */
const answersOpened = new Set();

/** Show what would give an answer away before it is opened. */
function reveal(guess) {
  if (answersOpened.has(guess)) return;
  answersOpened.add(guess);
  for (const part of document.querySelectorAll(`[data-after="${guess}"]`)) part.hidden = false;
  for (const part of document.querySelectorAll(`[data-before="${guess}"]`)) part.hidden = true;
  drawStripes();
}

function showVerdicts() {
  for (const answer of document.querySelectorAll("details[data-for]")) {
    const name = answer.dataset.for;
    const fieldset = document.querySelector(`input[name="${name}"]`).closest("fieldset");
    const verdict = document.createElement("p");
    verdict.className = "verdict";
    const update = () => {
      const choice = fieldset.querySelector("input:checked");
      verdict.hidden = !choice;
      if (choice) {
        const right = choice.value === fieldset.dataset.right;
        const words = choice.nextElementSibling.textContent;
        verdict.textContent = `You guessed “${words}”. ${right ? "That is right." : "It is otherwise."}`;
      }
    };
    answer.querySelector("summary").after(verdict);
    answer.addEventListener("toggle", () => {
      if (answer.open) reveal(name);
    });
    fieldset.addEventListener("change", update);
    update();
  }
}

// ---- Start ----

const SLIDERS = ["words", "attributes", "word-sd", "attribute-sd", "pair-sd", "difference"];
for (const name of SLIDERS) byId(name).addEventListener("input", drawTables);
byId("professions").addEventListener("input", () => {
  reveal("guess-stripes");
  drawStripes();
});
for (const input of document.querySelectorAll('input[name="step"]')) input.addEventListener("change", drawPoints);
for (const button of document.querySelectorAll("button[data-set]")) {
  const settings = button.dataset.set.split(" ").filter(Boolean).map((setting) => setting.split("="));
  button.addEventListener("click", () => setSliders({ ...AT_FIRST, ...Object.fromEntries(settings) }));
}
for (const button of document.querySelectorAll(".no-sds")) {
  button.addEventListener("click", () => {
    const { "word-sd": word, "attribute-sd": attribute } = AT_FIRST;
    const back = pairsAreIndependent(settingsOfSliders());
    setSliders({ "word-sd": back ? word : 0, "attribute-sd": back ? attribute : 0, difference: 0 });
    // The button of part 4 is gone now, and focus must not be lost.
    if (button.closest("[hidden]")) document.querySelector('a[href="#words"]').focus();
  });
}
byId("again").addEventListener("click", () => {
  seed += 2;
  drawTables();
});
const setAll = (open) => () => {
  for (const answer of document.querySelectorAll("details.answer")) answer.open = open;
};
byId("open-all").addEventListener("click", setAll(true));
byId("close-all").addEventListener("click", setAll(false));
document.querySelector("form.controls").addEventListener("submit", (event) => event.preventDefault());

function drawAll() {
  drawPoints();
  drawStripes();
  drawTables();
}

drawAll();
let widthDrawn = document.querySelector("main").clientWidth;
new ResizeObserver(() => {
  const width = document.querySelector("main").clientWidth;
  if (width !== widthDrawn) {
    widthDrawn = width;
    drawAll();
  }
}).observe(document.querySelector("main"));
showVerdicts();
fillReal();
document.documentElement.dataset.ready = "true";
