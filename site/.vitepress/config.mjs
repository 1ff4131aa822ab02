import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { defineConfig } from 'vitepress';

// site/build sets these: where the project is, where the site will be, and which older versions are beside it.
const { SITE_PROJECT: project, SITE_OUT: out, SITE_BASE: base, SITE_OLDER: older } = process.env;
const docs = join(project, 'docs');
const pom = readFileSync(join(project, 'pom.xml'), 'utf8');
const version = pom.match(/^  <version>(.*)<\/version>/m)[1];
const home = pom.match(/<home\.url>(.*)<\/home\.url>/)[1];
// An older version is in a folder of the newest one; the name of the folder is its version.
const isOlder = base.endsWith(`/${version}/`);
const sources = `${home}/blob/${version.endsWith('-SNAPSHOT') ? 'main' : `v${version}`}/`;

const heading = (page) => readFileSync(join(docs, `${page}.md`), 'utf8').match(/^# (.*)/m)[1];

// An entry for each page of docs; its text is the heading up to a colon, or what stands behind the name.
const entries = (...pages) =>
  pages.map((entry) => {
    const [, page, text] = entry.match(/^(\S+) ?(.*)$/);
    return { text: text || heading(page).replace(/:.*/, ''), link: `/${page}` };
  });

const decisions = readdirSync(join(docs, 'decisions'))
  .filter((file) => /^\d.*\.md$/.test(file))
  .sort()
  .map((file) => file.slice(0, -'.md'.length))
  .map((page) => ({ text: heading(`decisions/${page}`), link: `/decisions/${page}` }));

const readers = [
  {
    text: 'New to RDMA',
    items: entries('10-getting-started', '20-concepts', '12-commands', '40-comm-guide Sessions and channels',
      '41-build-a-service', '80-troubleshooting'),
  },
  {
    text: 'From rdma_comm_core, DiSNI, jucx',
    items: entries('46-migration', '30-verbs-guide', '42-mesh', '44-collectives', '72-fault-injection'),
  },
  { text: 'Your NIO program', items: entries('10-getting-started#your-program-uses-javanio The first try', '48-nio-sockets', '49-spark') },
  {
    text: 'Operators',
    items: entries('43-cluster', '35-security', '65-observability', '60-performance', '62-json', '45-interoperation', '52-roce-guide',
      '80-troubleshooting'),
  },
  {
    text: 'Contributors',
    collapsed: true,
    items: [
      ...entries('32-map', '33-invariants', '50-soft-provider', '55-iwarp-wire', '56-session-wire', '57-rsocket-wire',
        '58-roce-wire', '70-testing', '75-lab', '76-soak', '90-release'),
      { text: 'Contributing', link: `${sources}CONTRIBUTING.md` },
    ],
  },
  { text: 'Decisions', link: '/decisions/', collapsed: true, items: decisions },
];

// Every page of docs has its place in the navigation.
const placed = new Set(readers.flatMap((group) => group.items.map((item) => item.link.slice(1))));
const lost = readdirSync(docs).filter((file) => /^\d.*\.md$/.test(file) && !placed.has(file.slice(0, -'.md'.length)));
if (lost.length) {
  throw new Error(`docs/${lost[0]} is not in the navigation: add it to site/.vitepress/config.mjs`);
}

// The anchors that code hosts give to headings, so that links with one work there and here.
const slugify = (text) => text.trim().toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');

// Links from docs to all that is no page lead to the sources.
function linkSources(markdown) {
  markdown.core.ruler.push('sources', ({ tokens, env }) => {
    for (const link of tokens.flatMap((token) => token.children ?? []).filter(({ type }) => type === 'link_open')) {
      const [, path, anchor] = link.attrGet('href').match(/^([^#]*)(.*)$/);
      if (!path || /^([a-z]+:|\/)/.test(path)) continue;
      const file = normalize(join('docs', dirname(env.relativePath), path)).replace(/\/$/, '');
      if (file === 'docs/decisions/README.md') {
        link.attrSet('href', '/decisions/');
      } else if (!/^docs\/.*\.md$/.test(file)) {
        if (!existsSync(join(project, file))) throw new Error(`${env.relativePath}: ${path} does not exist`);
        link.attrSet('href', sources + file + anchor);
      }
    }
  });
}

// Indented blocks of docs are commands.
function markCommands(markdown) {
  markdown.core.ruler.push('commands', ({ tokens }) => {
    for (const block of tokens.filter(({ type }) => type === 'code_block')) {
      Object.assign(block, { type: 'fence', tag: 'code', info: 'sh' });
    }
  });
}

export default defineConfig({
  title: 'rdmacomm',
  description: pom.match(/<description>(.*)<\/description>/)[1],
  base,
  outDir: out,
  cacheDir: './cache',
  srcDir: 'pages',
  // site/build checks these after it has added the Javadoc and the comparison.
  ignoreDeadLinks: [/^\/api\//, /^\/comparison/],
  markdown: { anchor: { slugify }, config: (markdown) => markdown.use(linkSources).use(markCommands) },
  themeConfig: {
    nav: [
      { text: 'Get started', link: '/10-getting-started' },
      {
        text: 'Guides',
        items: entries('48-nio-sockets Sockets of java.nio', '40-comm-guide Sessions and channels', '30-verbs-guide Verbs',
          '46-migration Migration', '43-cluster Clusters', 'documents All documents by reader'),
      },
      { text: 'API', link: '/api/index.html', target: '_self' },
      { text: 'Comparison', link: '/comparison.html', target: '_self' },
      {
        text: version,
        items: [
          { text: 'Changes', link: `${sources}CHANGELOG.md` },
          ...(isOlder ? [{ text: 'The newest version', link: '/../', target: '_self' }] : []),
          ...older.split(' ').filter(Boolean).map((name) => ({ text: name, link: `/${name}/`, target: '_self' })),
        ],
      },
    ],
    sidebar: readers,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: home, ariaLabel: 'The sources' }],
    externalLinkIcon: true,
    footer: { message: 'Apache-2.0' },
  },
});
