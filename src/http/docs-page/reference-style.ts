/** The colors of the pages, light and dark. */
export const PAGE_COLORS = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c2330; --soft: #5b6577; --line: #e2e6ed; --shade: #f5f7fa; --link: #1f5fbf;
  --get: #1a7f4e; --post: #1f5fbf; --put: #9a6200; --patch: #9a6200; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #12161d; --ink: #e4e8ef; --soft: #98a3b5; --line: #2a323f; --shade: #1a2029; --link: #7fb0ff;
    --get: #56c98c; --post: #7fb0ff; --put: #e3b04f; --patch: #e3b04f; --delete: #ff8f86;
  }
}
`;

/** The style sheet of the API reference. The content security policy has its hash, so the page contains it verbatim. */
export const REFERENCE_STYLE = `${PAGE_COLORS}* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; }
.top { position: sticky; top: 0; z-index: 1; display: flex; gap: .6rem; align-items: baseline; padding: .7rem 1.5rem;
  background: var(--paper); border-bottom: 1px solid var(--line); font-weight: 600; }
.top a:first-child { color: var(--ink); }
.version { color: var(--soft); font-weight: 400; }
.download { margin-left: auto; }
.download, .download + a { font-weight: 400; }
.frame { display: grid; grid-template-columns: 19rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
aside { position: sticky; top: 3.1rem; align-self: start; height: calc(100vh - 3.1rem); overflow-y: auto;
  padding: .5rem 1rem 2rem 1.5rem; border-right: 1px solid var(--line); }
.menu { display: none; }
nav h3 { margin: 1rem 0 .2rem; font-size: .8rem; letter-spacing: .02em; }
nav h3 a { color: var(--soft); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: block; padding: .12rem 0 .12rem 3.6rem; text-indent: -3.6rem; color: var(--ink); font-size: .85rem; line-height: 1.4; }
nav b { display: inline-block; width: 3.6rem; text-indent: 0; font-size: .68rem; }
b.get { color: var(--get); } b.post { color: var(--post); } b.put { color: var(--put); }
b.patch { color: var(--patch); } b.delete { color: var(--delete); }
main { min-width: 0; padding: 1.5rem 2.5rem 6rem; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
h2 { margin: 3.5rem 0 0; font-size: 1.4rem; }
article { margin-top: 1.5rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
article h3 { margin: 0; font-size: 1.05rem; font-weight: 600; }
article h3 b { margin-right: .35rem; font-size: .85rem; }
article h3 a { color: var(--ink); }
.summary { margin: .4rem 0 0; }
.who { margin: .15rem 0 0; color: var(--soft); font-size: .9rem; }
h4 { margin: 1.3rem 0 .4rem; font-size: .9rem; }
.note, .media, .statuses { color: var(--soft); font-size: .85rem; }
.note { margin: .4rem 0; }
p code, td code, dd code, li code { padding: .05em .3em; border-radius: 4px; background: var(--shade); }
td:first-child code { padding: 0; background: none; }
pre { margin: .4rem 0; padding: .8rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--shade); line-height: 1.5; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; font-size: .875rem; line-height: 1.45; }
th { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); color: var(--soft); font-weight: 500; text-align: left; }
th:nth-child(1) { width: 34%; } th:nth-child(2) { width: 26%; }
td { padding: .4rem .8rem .4rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td:nth-child(2) { color: var(--soft); }
td em { color: var(--soft); font-size: .75rem; font-style: normal; }
td em.required { color: var(--delete); }
details { margin: .35rem 0; }
article details { border: 1px solid var(--line); border-radius: 6px; padding: .45rem .8rem; }
summary { cursor: pointer; font-size: .9rem; }
dl { display: grid; grid-template-columns: 3rem minmax(0, 1fr); margin: .6rem 0 .2rem; font-size: .875rem; }
dt { font-weight: 600; } dd { margin: 0 0 .4rem; }
@media (max-width: 52rem) {
  .top { padding: .7rem 1rem; }
  .frame { display: block; }
  aside { display: none; }
  .menu { display: block; margin: 0; padding: .7rem 1rem; border-bottom: 1px solid var(--line); }
  nav li a { padding-top: .35rem; padding-bottom: .35rem; }
  main { padding: 1rem 1rem 4rem; }
  thead { display: none; }
  table, tbody, tr, td { display: block; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0; border: 0; }
}
@media print { aside, .menu, .top { display: none; } .frame { display: block; } }
`;
