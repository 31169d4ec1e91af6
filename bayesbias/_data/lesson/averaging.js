// The computations of the lesson. Tests hold every number to that of the Python package.
//
// A table is { distances, x, y, a, b }: distances row by row as a flat array. Its rows are x words of class X and
// y words of class Y; its columns are a attributes of X and b attributes of Y. Pairs of X with the first set and
// of Y with the second are associated, the other pairs are different.

// ---- Distributions ----

const HALF_LOG_2PI = 0.91893853320467274178;

/** Logarithm of the gamma function for x > 0: Stirling's series beyond 12. */
export function logGamma(x) {
  let product = 1;
  while (x < 12) product *= x++;
  const z = 1 / (x * x);
  const series =
    1 / 12 - z * (1 / 360 - z * (1 / 1260 - z * (1 / 1680 - z * (1 / 1188 - (z * 691) / 360360))));
  return (x - 0.5) * Math.log(x) - x + HALF_LOG_2PI + series / x - Math.log(product);
}

/** Regularized incomplete beta function at x, where y is 1 - x: Lentz's continued fraction. */
export function incompleteBeta(a, b, x, y = 1 - x) {
  if (x <= 0) return 0;
  if (y <= 0) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(b, a, y, x);
  const front = a * Math.log(x) + b * Math.log(y) + logGamma(a + b) - logGamma(a) - logGamma(b);
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 10000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < 1e-16) break;
  }
  return (Math.exp(front) * fraction) / a;
}

function awayFromZero(value) {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** Probability that |T| is at least |t|, for Student's T. */
export function twoSidedP(t, df) {
  if (t === 0 || Number.isNaN(t)) return Number.isNaN(t) ? NaN : 1;
  if (!Number.isFinite(t)) return 0;
  const square = t * t;
  return incompleteBeta(df / 2, 0.5, df / (df + square), square / (df + square));
}

/** The t with P(|T| >= t) = outside: Newton's method between brackets. */
export function tQuantile(outside, df) {
  if (!(outside > 0 && outside < 1)) return outside >= 1 ? 0 : Infinity;
  const logDensity = logGamma((df + 1) / 2) - logGamma(df / 2) - 0.5 * Math.log(df * Math.PI);
  let low = 0;
  let high = Infinity;
  let t = firstGuess(outside, df);
  for (let step = 0; step < 200; step++) {
    const tail = twoSidedP(t, df);
    if (tail > outside) low = t;
    else high = t;
    // A step on the logarithm of the tail, which is close to a line.
    const density = 2 * Math.exp(logDensity - ((df + 1) / 2) * Math.log1p((t * t) / df));
    let next = t + (tail * Math.log(tail / outside)) / density;
    if (!(next >= low && next <= high)) next = high === Infinity ? 2 * low : (low + high) / 2;
    const change = Math.abs(next - t);
    t = next;
    if (change <= 1e-9 * t) return t; // errors are squared at each step
  }
  return t;
}

/** Near the t of `tQuantile`: the normal quantile with two terms of its expansion, or exact for two degrees. */
function firstGuess(outside, df) {
  if (df < 3) return Math.sqrt(2 / (outside * (2 - outside)) - 2) || 1;
  const w = Math.sqrt(-2 * Math.log(outside / 2)); // Abramowitz and Stegun 26.2.23
  const z =
    w -
    (2.515517 + w * (0.802853 + w * 0.010328)) /
      (1 + w * (1.432788 + w * (0.189269 + w * 0.001308)));
  const z2 = z * z;
  return Math.max(z * (1 + (z2 + 1) / (4 * df) + (z2 * (5 * z2 + 16) + 3) / (96 * df * df)), 1e-8);
}

// ---- Tests ----

function meanAndVariance(values) {
  const n = values.length;
  let mean = 0;
  for (let place = 0; place < n; place++) mean += values[place] / n;
  let squares = 0;
  for (let place = 0; place < n; place++) squares += (values[place] - mean) ** 2;
  return { mean, variance: squares / (n - 1), n };
}

function answer(estimate, variance, df) {
  const se = Math.sqrt(variance);
  return { estimate, se, df, p: se > 0 ? twoSidedP(estimate / se, df) : NaN };
}

/** t-test of one sample against zero. */
export function oneSample(values) {
  const { mean, variance, n } = meanAndVariance(values);
  return answer(mean, variance / n, n - 1);
}

/** Welch's t-test: the difference of two means. */
export function welch(first, second) {
  return welchOf(meanAndVariance(first), meanAndVariance(second));
}

function welchOf(one, two) {
  const errors = [one.variance / one.n, two.variance / two.n];
  const variance = errors[0] + errors[1];
  const df = variance ** 2 / (errors[0] ** 2 / (one.n - 1) + errors[1] ** 2 / (two.n - 1));
  return answer(one.mean - two.mean, variance, df);
}

/** Ends of the interval of a t-test. */
export function interval(test, prob) {
  const half = tQuantile(1 - prob, test.df) * test.se;
  return [test.estimate - half, test.estimate + half];
}

/** Means of each word over both sets: [over the first, over the second]. */
function meansOfWords({ distances, x, y, a, b }) {
  const means = [];
  for (let row = 0, place = 0; row < x + y; row++) {
    const sums = [0, 0];
    for (let column = 0; column < a + b; column++) sums[column < a ? 0 : 1] += distances[place++];
    means.push([sums[0] / a, sums[1] / b]);
  }
  return means;
}

/** Welch's t-test of associated against different pairs, as if pairs were independent. Fast: it copies no pairs. */
export function pairsTest({ distances, x, y, a, b }) {
  const counts = [x * a + y * b, x * b + y * a];
  const means = [0, 0];
  const squares = [0, 0];
  for (const pass of [0, 1]) {
    const [first, second] = means;
    let associated = 0;
    let different = 0;
    for (let row = 0, place = 0; row < x + y; row++) {
      for (let column = 0; column < a + b; column++) {
        const value = distances[place++];
        if (row < x === column < a) associated += pass ? (value - first) ** 2 : value;
        else different += pass ? (value - second) ** 2 : value;
      }
    }
    const sums = pass ? squares : means;
    sums[0] = associated / (counts[0] - pass);
    sums[1] = different / (counts[1] - pass);
  }
  return welchOf(
    { mean: means[0], variance: squares[0], n: counts[0] },
    { mean: means[1], variance: squares[1], n: counts[1] },
  );
}

/** The paired t-test of averages: of each word, its mean over own attributes minus that over the others. */
export function manziniTest(table) {
  const own = (means, row) => (row < table.x ? means[0] - means[1] : means[1] - means[0]);
  return oneSample(meansOfWords(table).map(own));
}

/** The weight of each block in associated - different: rows are classes, columns are sets. */
function weightsOfBlocks({ x, y, a, b }) {
  const associated = x * a + y * b;
  const different = x * b + y * a;
  return [
    [(x * a) / associated, (-x * b) / different],
    [(-y * a) / different, (y * b) / associated],
  ];
}

/** Welch's t-test of the words' scores, one for each word. */
export function wordsTest(table) {
  const weights = weightsOfBlocks(table);
  const scores = meansOfWords(table).map((means, row) => {
    const weight = weights[row < table.x ? 0 : 1];
    return weight[0] * means[0] + weight[1] * means[1];
  });
  const negated = scores.slice(table.x).map((score) => -score);
  return welch(scores.slice(0, table.x), negated);
}

/** WEAT's score of each word: its mean similarity to the first set minus that to the second. */
export function weatScores(table) {
  return meansOfWords(table).map((means) => means[1] - means[0]);
}

/** WEAT's two-sided permutation test: the share of partitions with means at least as far apart. */
export function weatTest(table) {
  const scores = weatScores(table);
  return permutationTest(scores.slice(0, table.x), scores.slice(table.x));
}

/** Sums of the subsets of some numbers, by size, each list in ascending order. */
function sumsBySize(numbers) {
  let lists = [[0]];
  for (const number of numbers) {
    const grown = [];
    for (let size = 0; size <= lists.length; size++) {
      const without = size < lists.length ? lists[size] : [];
      const added = size > 0 ? lists[size - 1] : [];
      grown.push(merged(without, added, number));
    }
    lists = grown;
  }
  return lists;
}

/** Two ascending lists as one, after a number is added to the second. */
function merged(first, second, number) {
  const out = [];
  let place = 0;
  for (let other = 0; other < second.length; other++) {
    const sum = second[other] + number;
    while (place < first.length && first[place] <= sum) out.push(first[place++]);
    out.push(sum);
  }
  while (place < first.length) out.push(first[place++]);
  return out;
}

/**
 * Exact two-sided permutation test of the difference of two means, for up to 24 numbers.
 *
 * The numbers are centered, so a partition is as far apart as the sum over its first part is from zero. They are
 * split into two halves; each sum of one half meets those of the other that reach far enough.
 */
export function permutationTest(first, second) {
  const all = [...first, ...second];
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const centered = all.map((value) => value - mean);
  const size = first.length;
  let observed = 0;
  for (let place = 0; place < size; place++) observed += centered[place];
  const largest = Math.max(...all.map(Math.abs));
  const bar = Math.abs(observed) - all.length * 2 ** -42 * largest; // closer sums are ties
  const middle = all.length >> 1;
  const left = sumsBySize(centered.slice(0, middle));
  const right = sumsBySize(centered.slice(middle));
  let partitions = 0;
  let extreme = 0;
  for (let taken = 0; taken < left.length; taken++) {
    const sums = left[taken];
    const others = right[size - taken];
    if (!others) continue;
    const count = others.length;
    partitions += sums.length * count;
    let above = count; // the sums from here on reach the bar
    let below = count; // the sums before here reach minus the bar
    for (let place = 0; place < sums.length; place++) {
      while (above > 0 && others[above - 1] + sums[place] >= bar) above--;
      while (below > 0 && others[below - 1] + sums[place] > -bar) below--;
      extreme += count - above + below;
    }
  }
  return { p: bar <= 0 ? 1 : extreme / partitions, partitions };
}

// ---- The crossed interval ----

/**
 * The two-way method of moments with Satterthwaite's degrees of freedom: words and attributes are both samples.
 *
 * The variance is R + C - E, of the mean squares of words, attributes and residuals. A part below zero counts as zero.
 */
export function crossedTest(table) {
  const { distances, x, y, a, b } = table;
  const rows = x + y;
  const columns = a + b;
  const words = [x, y];
  const attributes = [a, b];
  const weights = weightsOfBlocks(table);
  const ofWords = meansOfWords(table);
  const ofAttributes = [new Float64Array(columns), new Float64Array(columns)];
  const means = [
    [0, 0],
    [0, 0],
  ];
  for (let row = 0, place = 0; row < rows; row++) {
    const k = row < x ? 0 : 1;
    const sums = ofAttributes[k];
    for (let column = 0; column < columns; column++) sums[column] += distances[place++] / words[k];
    means[k][0] += ofWords[row][0] / words[k];
    means[k][1] += ofWords[row][1] / words[k];
  }
  let estimate = 0;
  for (let k = 0; k < 2; k++) {
    for (let j = 0; j < 2; j++) estimate += weights[k][j] * means[k][j];
  }

  // Mean squares of the scores of words and of attributes, and of what is left of each pair.
  const partsOfWords = [0, 0];
  const partsOfAttributes = [0, 0];
  const partsOfPairs = [
    [0, 0],
    [0, 0],
  ];
  for (let row = 0, place = 0; row < rows; row++) {
    const k = row < x ? 0 : 1;
    const [inA, inB] = ofWords[row];
    const score = weights[k][0] * (inA - means[k][0]) + weights[k][1] * (inB - means[k][1]);
    partsOfWords[k] += score * score;
    for (let column = 0; column < columns; column++) {
      const j = column < a ? 0 : 1;
      const rest = distances[place++] - (j ? inB : inA) - ofAttributes[k][column] + means[k][j];
      partsOfPairs[k][j] += rest * rest;
    }
  }
  for (let column = 0; column < columns; column++) {
    const j = column < a ? 0 : 1;
    const ofX = weights[0][j] * (ofAttributes[0][column] - means[0][j]);
    const score = ofX + weights[1][j] * (ofAttributes[1][column] - means[1][j]);
    partsOfAttributes[j] += score * score;
  }
  const free = (n) => Math.max(n - 1, 1);
  let noise = 0;
  for (let k = 0; k < 2; k++) {
    partsOfWords[k] /= free(words[k]) * words[k];
    partsOfAttributes[k] /= free(attributes[k]) * attributes[k];
    for (let j = 0; j < 2; j++) {
      const pairs = free(words[k]) * free(attributes[j]) * words[k] * attributes[j];
      partsOfPairs[k][j] *= weights[k][j] ** 2 / pairs;
      noise += partsOfPairs[k][j];
    }
  }

  // Each mean square with its degrees of freedom. What comes out below zero counts as zero.
  const countWords = partsOfWords[0] + partsOfWords[1] > noise ? 1 : 0;
  const countAttributes = partsOfAttributes[0] + partsOfAttributes[1] > noise ? 1 : 0;
  let variance = 0;
  let squares = 0;
  const add = (term, df) => {
    variance += term;
    squares += term ** 2 / df;
  };
  for (let k = 0; k < 2; k++) {
    add(countWords * partsOfWords[k], words[k] - 1);
    add(countAttributes * partsOfAttributes[k], attributes[k] - 1);
    for (let j = 0; j < 2; j++) {
      const count = 1 - countWords - countAttributes;
      add(count * partsOfPairs[k][j], (words[k] - 1) * (attributes[j] - 1));
    }
  }
  return answer(estimate, variance, squares > 0 ? variance ** 2 / squares : Infinity);
}

// ---- Simulation ----

/** A generator of normal numbers with a seed: xoshiro128** and Marsaglia's polar method. */
export function normalNumbers(seed) {
  const state = new Uint32Array(4);
  for (let place = 0; place < 4; place++) {
    let z = (seed + (place + 1) * 0x9e3779b9) >>> 0; // splitmix32
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    state[place] = z ^ (z >>> 16);
  }
  const uniform = () => {
    const five = Math.imul(state[1], 5);
    const out = Math.imul((five << 7) | (five >>> 25), 9) >>> 0;
    const shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = (state[3] << 11) | (state[3] >>> 21);
    return out / 4294967296;
  };
  const spare = new Float64Array(1);
  let hasSpare = false;
  const normal = () => {
    hasSpare = !hasSpare;
    if (!hasSpare) return spare[0];
    let u = 0;
    let v = 0;
    let s = 0;
    while (s >= 1 || s === 0) {
      u = 2 * uniform() - 1;
      v = 2 * uniform() - 1;
      s = u * u + v * v;
    }
    const scale = Math.sqrt((-2 * Math.log(s)) / s);
    spare[0] = v * scale;
    return u * scale;
  };
  return { normal, uniform };
}

/**
 * Draw one table.
 *
 * Each word is nearer to a whole set by chance, each attribute to a whole class, and each pair has its own part.
 * `difference` is associated - different over all words and attributes that could be drawn.
 */
export function drawTable({ words, attributes, wordSd, attributeSd, pairSd, difference }, random) {
  const n = 2 * words;
  const m = 2 * attributes;
  const ofWords = new Float64Array(2 * n);
  const ofAttributes = new Float64Array(2 * m);
  for (let place = 0; place < 2 * n; place++) ofWords[place] = wordSd * random.normal();
  for (let place = 0; place < 2 * m; place++) ofAttributes[place] = attributeSd * random.normal();
  const distances = new Float64Array(n * m);
  for (let row = 0, place = 0; row < n; row++) {
    const k = row < words ? 0 : 1;
    for (let column = 0; column < m; column++) {
      const j = column < attributes ? 0 : 1;
      const shift = k === j ? difference / 2 : -difference / 2;
      distances[place++] =
        1 + shift + ofWords[2 * row + j] + ofAttributes[2 * column + k] + pairSd * random.normal();
    }
  }
  return { distances, x: words, y: words, a: attributes, b: attributes };
}

/** Random halves of the words: WEAT's test beyond 8 words a class, where there are too many to list. */
function randomHalves(n, count, random) {
  const order = Array.from({ length: 2 * n }, (_, place) => place);
  return Array.from({ length: count }, () => {
    for (let place = 0; place < n; place++) {
      const other = place + Math.floor(random.uniform() * (2 * n - place));
      [order[place], order[other]] = [order[other], order[place]];
    }
    return Uint8Array.from(order.slice(0, n));
  });
}

function sampledP(scores, n, halves) {
  let mean = 0;
  for (const score of scores) mean += score / scores.length;
  const centered = Float64Array.from(scores, (score) => score - mean);
  let observed = 0;
  for (let place = 0; place < n; place++) observed += centered[place];
  const bar = Math.abs(observed) * (1 - 1e-12);
  let extreme = 1;
  for (const half of halves) {
    let sum = 0;
    for (let place = 0; place < n; place++) sum += centered[half[place]];
    if (Math.abs(sum) >= bar) extreme++;
  }
  return extreme / (halves.length + 1);
}

/** Draw many tables, and return the p-values of each test and the intervals over pairs and crossed. */
export function simulate(settings) {
  const { words, tables, prob, seed } = settings;
  const random = normalNumbers(seed);
  const halves = words > 8 ? randomHalves(words, 999, normalNumbers(seed + 1)) : null;
  const p = { pairs: [], manzini: [], weat: [], words: [], crossed: [] };
  const intervals = { pairs: [], crossed: [] };
  const estimates = [];
  for (let number = 0; number < tables; number++) {
    const table = drawTable(settings, random);
    const tests = {
      pairs: pairsTest(table),
      manzini: manziniTest(table),
      weat: halves ? { p: sampledP(weatScores(table), words, halves) } : weatTest(table),
      words: wordsTest(table),
      crossed: crossedTest(table),
    };
    for (const name of Object.keys(p)) p[name].push(tests[name].p);
    for (const name of Object.keys(intervals)) intervals[name].push(interval(tests[name], prob));
    estimates.push(tests.crossed.estimate);
  }
  return { p, intervals, estimates };
}

/** How many p-values lie below a level. */
export function countBelow(values, level) {
  return values.filter((value) => value < level).length;
}

/** How many intervals contain a number. */
export function countCovering(intervals, truth) {
  return intervals.filter(([low, high]) => low <= truth && truth <= high).length;
}
