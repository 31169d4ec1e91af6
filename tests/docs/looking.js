// Opens page after page at two widths, light and dark, and posts what is wrong with each.
const rgb = text => { const m = text.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m.slice(0, 3), 1] : m; };
const over = (top, below) => [0, 1, 2].map(i => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
const light = c => c.slice(0, 3).map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
function ground(element, view) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.push(rgb(view.getComputedStyle(e).backgroundColor));
  return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255, 1]);
}
function faint(doc, view) {
  const found = new Map();
  const walker = doc.createTreeWalker(doc.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest("script, style, noscript, svg, template") || !e.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    const style = view.getComputedStyle(e);
    const box = e.getBoundingClientRect();
    if (!box.width || !box.height || style.clipPath !== "none") continue;
    const below = ground(e, view);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700) ? 3 : 4.5;
    const has = ratio(over(rgb(style.color), below), below);
    if (has < least) found.set(`${e.tagName.toLowerCase()}.${e.className}`, `${has.toFixed(2)} ${style.color} ${node.data.trim().slice(0, 30)}`);
  }
  return [...found].map(([where, what]) => `${where}: ${what}`);
}
const wait = ms => new Promise(done => setTimeout(done, ms));
async function look(page, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  await new Promise(done => { frame.onload = done; frame.src = page; document.body.append(frame); });
  await wait(30);
  const doc = frame.contentDocument, view = frame.contentWindow, wrong = [];
  if (view.innerWidth !== width) wrong.push(`${view.innerWidth} px wide`);
  const wide = doc.documentElement.scrollWidth;
  if (wide > width) {
    const out = [...doc.querySelectorAll("article *")].filter(e => e.getBoundingClientRect().right > width + 1);
    wrong.push(`scrolls: ${wide} > ${width} px: ${out.slice(-3).map(e => e.tagName + "." + e.className + " " + e.textContent.slice(0, 40))}`);
  }
  // A task is told on one screen, or a little more.
  const tall = doc.querySelector("article")?.getBoundingClientRect().height;
  if (width === 1280 && page.startsWith("howto/") && tall > 1150) wrong.push(`${Math.round(tall)} px high: more than a screen`);
  for (const image of doc.images) {
    if (!image.alt.trim() || image.alt === image.getAttribute("src")) wrong.push(`no alt: ${image.src.slice(-50)}`);
    if (image.complete && !image.naturalWidth) wrong.push(`not there: ${image.src}`);
  }
  for (const theme of ["light", "dark"]) {
    doc.body.dataset.theme = theme;
    wrong.push(...faint(doc, view).map(line => `${theme}: ${line}`));
  }
  const far = view.performance.getEntriesByType("resource").map(entry => entry.name).filter(name => !name.startsWith(location.origin));
  wrong.push(...far.map(name => `fetched: ${name}`));
  frame.remove();
  return wrong;
}
// As on paper, which does not scroll: rules for print hold, those for the screen do not.
function asPrinted(rules) {
  for (const rule of [...rules]) {
    if (!(rule instanceof rule.parentStyleSheet.ownerNode.ownerDocument.defaultView.CSSMediaRule)) continue;
    if (/\bprint\b/.test(rule.media.mediaText)) rule.media.mediaText = "all";
    else if (/\bscreen\b/.test(rule.media.mediaText)) rule.media.mediaText = "not all";
    asPrinted(rule.cssRules);
  }
}
async function printed(page) {
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:720px;height:900px;border:0";
  await new Promise(done => { frame.onload = done; frame.src = page; document.body.append(frame); });
  const doc = frame.contentDocument, view = frame.contentWindow;
  for (const sheet of doc.styleSheets) {
    if (sheet.media.mediaText === "print") sheet.media.mediaText = "all";
    asPrinted(sheet.cssRules);
  }
  await wait(30);
  const wrong = [];
  for (const e of doc.querySelectorAll("article *")) {
    const style = view.getComputedStyle(e);
    if (style.clipPath !== "none" || e.closest("thead")) continue;
    if (style.overflowX !== "visible" && style.display !== "inline" && e.scrollWidth > e.clientWidth + 2 && e.clientWidth)
      wrong.push(`cut off on paper: ${e.tagName}.${e.className} ${e.scrollWidth} > ${e.clientWidth}: ${e.textContent.trim().slice(0, 40)}`);
    else if (!e.closest("svg, math") && e.getBoundingClientRect().right > 722 && style.display !== "none")
      wrong.push(`beyond the paper: ${e.tagName}.${e.className}: ${e.textContent.trim().slice(0, 40)}`);
  }
  for (const aside of doc.querySelectorAll(".sidebar-drawer, .toc-drawer, .mobile-header"))
    if (aside.checkVisibility()) wrong.push(`printed: ${aside.className}`);
  frame.remove();
  return wrong.slice(0, 5);
}
(async () => {
  const pages = await (await fetch("pages.json")).json();
  const said = {};
  for (const page of pages) {
    for (const width of [1280, 390]) {
      const wrong = await look(page, width).catch(error => [`${error}`]);
      if (wrong.length) said[`${page} at ${width}`] = wrong;
    }
    const wrong = await printed(page).catch(error => [`${error}`]);
    if (wrong.length) said[`${page} on paper`] = wrong;
  }
  await fetch("/said", { method: "POST", body: JSON.stringify({ looked: pages.length, said }) });
  document.title = "done";
})();
