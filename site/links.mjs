// Prints the links between the pages of a site that lead nowhere, anchors included, and exits with 1 if there are any:
// node links.mjs FOLDER BASE
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';

const [folder, base] = process.argv.slice(2);
const pages = new Map();
for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
  if (!entry.name.endsWith('.html')) continue;
  const file = posix.join(entry.parentPath ?? entry.path, entry.name);
  pages.set(posix.relative(folder, file), readFileSync(file, 'utf8'));
}
const anchors = new Map([...pages].map(([page, text]) => [page, new Set(attributes(text, 'id'))]));

/** The values of an attribute in a page. */
function attributes(text, name) {
  const entities = { lt: '<', gt: '>', quot: '"', amp: '&' };
  return [...text.matchAll(new RegExp(`\\s${name}="([^"]*)"`, 'g'))]
    .map((match) => match[1].replace(/&(\w+);/g, (entity, name) => entities[name] ?? entity));
}

let links = 0;
let broken = 0;
for (const [page, text] of pages) {
  for (const link of new Set(attributes(text, 'href'))) {
    // An older version links to the newest one, which is in the folder above.
    if (/^[a-z]+:|^\/\//.test(link) || link === `${base}../`) continue;
    links++;
    const [path, anchor] = link.split('#').map(decodeURIComponent);
    let target = path === '' ? page : posix.join(path.startsWith('/') ? '/' : `${base}${posix.dirname(page)}`, path);
    if (path !== '') target = target.startsWith(base) ? target.slice(base.length) : `outside of ${base}: ${target}`;
    if (target === '' || target.endsWith('/')) target += 'index.html';
    const known = anchors.get(target);
    if (known ? anchor && !known.has(anchor) : !existsSync(posix.join(folder, target))) {
      console.log(`[ERROR] ${page}: ${link} leads nowhere`);
      broken++;
    }
  }
}
console.log(`links: ${pages.size} pages, ${links} links, ${broken} broken`);
process.exit(broken ? 1 : 0);
