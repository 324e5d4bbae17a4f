import packageJson from "../../../package.json" with { type: "json" };
import { type Html, html } from "../docs-page/html.ts";
import { DOCUMENT_SCRIPT } from "./document-script.ts";
import { DOCUMENT_STYLE } from "./document-style.ts";
import { relativeUrl, urlPathOf } from "./page-path.ts";
import type { Page } from "./render-markdown.ts";
import type { Match } from "./search-sections.ts";

/** A group of pages in the navigation. */
export interface NavigationGroup {
  readonly title: string;
  readonly links: readonly { readonly url: string; readonly title: string }[];
}

/** What surrounds the content of a page. */
export interface Frame {
  /** The path of the page without its first slash. */
  readonly urlPath: string;
  readonly navigation: readonly NavigationGroup[];
}

/** How many headings the contents of a page may list: fewer are none, and if there are more, only those of the second level are listed. */
const CONTENTS = { min: 3, max: 24 };

/** Renders a page of the documents as HTML. */
export function renderPage(page: Page, frame: Frame): string {
  const { title, markup, file } = page;
  const source = relativeUrl(frame.urlPath, `docs/${file}`);
  const content = html`${{ markup }}<p class="source"><a href="${source}">This page as Markdown</a></p>`;
  return renderFrame({ title, content, contents: renderContents(page) }, frame);
}

/** Renders the results of a search. */
export function renderResults(query: string, matches: readonly Match[], frame: Frame): string {
  const heading = query.trim() === "" ? "Search" : `Search: ${query.slice(0, 200)}`;
  const count =
    matches.length === 0
      ? "Nothing was found. A search finds sections that contain all of its words."
      : `${matches.length} ${matches.length === 1 ? "section" : "sections"}`;
  const content = html`<h1>${heading}</h1>
<p>${query.trim() === "" ? "Enter one or more words." : count}</p>
<ul class="results">${matches.map(
    ({ url, page, title, excerpt }) =>
      html`<li><a href="${relativeUrl(frame.urlPath, url)}">${title}</a>${page === title ? null : html` <span class="in">${page}</span>`}<p>${excerpt}</p></li>`,
  )}</ul>`;
  return renderFrame({ title: heading, content, contents: null, query }, frame);
}

/** Renders the page for a path without a page. */
export function renderMissing(frame: Frame): string {
  const content = html`<h1>There is no page here</h1>
<p>Search for it, or begin at <a href="${relativeUrl(frame.urlPath, "docs")}">the list of all pages</a>.</p>`;
  return renderFrame({ title: "There is no page here", content, contents: null }, frame);
}

interface Content {
  readonly title: string;
  readonly content: Html;
  /** The list of the page's headings; null for none. */
  readonly contents: Html | null;
  readonly query?: string;
}

function renderFrame({ title, content, contents, query = "" }: Content, frame: Frame): string {
  const to = (path: string): string => relativeUrl(frame.urlPath, path);
  const navigation = html`<nav aria-label="Pages">${frame.navigation.map((group) => renderGroup(group, frame))}</nav>`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Gateway</title>
<style>${{ markup: DOCUMENT_STYLE }}</style>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="name" href="${to("docs")}">Gateway</a> <span class="version">${packageJson.version}</span>
<form role="search" action="${to("docs/search")}"><input type="search" name="q" value="${query}" maxlength="200" placeholder="Search" aria-label="Search the documents"></form>
<a href="${to("docs/reference")}">All endpoints</a></header>
<div class="frame">
<details class="menu"><summary>Pages</summary>${navigation}</details>
<aside>${navigation}</aside>
<main id="content">${content}</main>
${contents}
</div>
<script>${{ markup: DOCUMENT_SCRIPT }}</script>
</body>
</html>
`.markup;
}

function renderGroup({ title, links }: NavigationGroup, { urlPath }: Frame): Html {
  return html`<h2>${title}</h2><ul>${links.map(({ url, title: name }) => {
    const href = relativeUrl(urlPath, url);
    return url === urlPath
      ? html`<li><a href="${href}" aria-current="page">${name}</a></li>`
      : html`<li><a href="${href}">${name}</a></li>`;
  })}</ul>`;
}

function renderContents({ file, sections }: Page): Html | null {
  const upTo = (most: number) => sections.filter(({ level }) => level >= 2 && level <= most);
  const listed = upTo(3).length > CONTENTS.max ? upTo(2) : upTo(3);
  if (listed.length < CONTENTS.min || urlPathOf(file) === "docs") return null;
  return html`<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${listed.map(
    ({ id, level, title }) => html`<li class="level-${level}"><a href="#${id}">${title}</a></li>`,
  )}</ul></nav>`;
}
