import { PAGE_COLORS } from "../docs-page/reference-style.ts";

/** The style sheet of the pages. The content security policy has its hash, so the pages contain it verbatim. */
export const DOCUMENT_STYLE = `${PAGE_COLORS}
* { box-sizing: border-box; }
html { scroll-padding-top: 4rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.6 system-ui, sans-serif; overflow-wrap: break-word; }
a { color: var(--link); text-decoration: none; }
a:hover, main p a, main li a, main td a { text-decoration: underline; text-underline-offset: .15em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .875em; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: 1rem; z-index: 2; padding: .5rem 1rem; background: var(--paper); }
.top { position: sticky; top: 0; z-index: 1; display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: baseline; padding: .6rem 1.5rem;
  background: var(--paper); border-bottom: 1px solid var(--line); }
.top .name { color: var(--ink); font-weight: 600; }
.version { color: var(--soft); }
form { flex: 1; display: flex; justify-content: flex-end; }
input { width: min(100%, 20rem); padding: .35rem .7rem; border: 1px solid var(--soft); border-radius: 6px; background: var(--paper); color: var(--ink); font: inherit; font-size: .9rem; }
.frame { display: grid; grid-template-columns: 16rem minmax(0, 1fr) 14rem; max-width: 90rem; margin: 0 auto; }
aside, .contents { position: sticky; top: 3.3rem; align-self: start; max-height: calc(100vh - 3.3rem); overflow-y: auto; padding: .8rem 1.5rem 2rem; }
.menu { display: none; }
nav h2 { margin: 1rem 0 .25rem; color: var(--soft); font-size: .8rem; font-weight: 600; }
nav ul { margin: 0; padding: 0; list-style: none; }
nav li a { display: block; padding: .2rem 0; color: var(--ink); font-size: .875rem; line-height: 1.4; }
nav li a[aria-current] { color: var(--link); font-weight: 600; }
.contents .level-3 { padding-left: .8rem; }
.contents a { color: var(--soft); }
main { min-width: 0; max-width: 56rem; padding: 1.5rem 2.5rem 6rem; }
h1 { margin: 0 0 1rem; font-size: 1.9rem; line-height: 1.2; }
main h2 { margin: 2.4rem 0 .6rem; font-size: 1.35rem; line-height: 1.3; }
main h3 { margin: 1.8rem 0 .4rem; font-size: 1.08rem; }
main h4 { margin: 1.4rem 0 .4rem; font-size: 1rem; }
p, main ul, main ol { margin: .7rem 0; }
main ul, main ol { padding-left: 1.4rem; }
main li { margin: .25rem 0; }
p code, td code, th code, li code, h2 code, h3 code { padding: .05em .3em; border-radius: 4px; background: var(--shade); }
img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 6px; }
img[src$=".svg"] { padding: .5rem; background: #ffffff; }
blockquote { margin: .8rem 0; padding: 0 1rem; border-left: 3px solid var(--line); color: var(--soft); }
.code { position: relative; }
pre { margin: .8rem 0; padding: .8rem 1rem; overflow-x: auto; border: 1px solid var(--line); border-radius: 6px; background: var(--shade); line-height: 1.5; }
.code button { position: absolute; top: .4rem; right: .4rem; padding: .15rem .6rem; border: 1px solid var(--line); border-radius: 4px;
  background: var(--paper); color: var(--soft); font: inherit; font-size: .75rem; cursor: pointer; opacity: 0; }
.code:hover button, .code:focus-within button { opacity: 1; }
.scroll { margin: .8rem 0; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; line-height: 1.45; }
th { padding: .4rem .9rem .4rem 0; border-bottom: 1px solid var(--soft); color: var(--soft); font-weight: 600; text-align: left; vertical-align: bottom; }
td { padding: .45rem .9rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.source { margin-top: 3rem; padding-top: .8rem; border-top: 1px solid var(--line); font-size: .85rem; }
main .results { padding: 0; list-style: none; }
.results li { margin: 1.2rem 0; }
.results li a { font-weight: 600; }
.results p { margin: .15rem 0; color: var(--soft); font-size: .9rem; }
.in { color: var(--soft); font-size: .875rem; }
@media (max-width: 75rem) { .frame { grid-template-columns: 15rem minmax(0, 1fr); } .contents { display: none; } }
@media (max-width: 52rem) {
  .top { padding: .6rem 1rem; }
  form { order: 1; flex-basis: 100%; }
  .top .version { flex: 1; }
  input { width: 100%; font-size: 16px; }
  .frame { display: block; }
  aside { display: none; }
  .menu { display: block; padding: .6rem 1rem; border-bottom: 1px solid var(--line); }
  .menu summary { cursor: pointer; }
  nav li a { padding: .45rem 0; }
  main { padding: 1.2rem 1rem 4rem; }
  .scroll table:has(th:nth-child(4)) { min-width: 40rem; }
  .scroll table:not(:has(th:nth-child(4))) code { overflow-wrap: anywhere; }
}
@media (hover: none) { .code button { opacity: 1; } pre { padding-top: 2.3rem; } }
@media print { aside, .menu, .top, .contents, .code button { display: none; } .frame { display: block; } }
`;
