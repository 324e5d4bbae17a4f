import type { DocumentSource } from "../context/document-source.ts";
import { type PreparedResponse, prepareText } from "../context/prepared-response.ts";
import { describeApi } from "../openapi/describe-api.ts";
import { findFile, urlPathOf } from "./page-path.ts";
import { type Page, renderMarkdown } from "./render-markdown.ts";
import { type Frame, type NavigationGroup, renderMissing, renderPage, renderResults } from "./render-page.ts";
import { createSearch, type Match, type Searchable } from "./search-sections.ts";

/** The page whose headings and links are the navigation of all pages. */
const INDEX = "README.md";

/** The documents as pages for browsers. Each page is rendered when it is first read. */
export class Manual {
  private readonly pages = new Map<string, Page>();
  private readonly prepared = new Map<string, PreparedResponse>();
  private search: ((query: string) => readonly Match[]) | null = null;

  private constructor(
    private readonly files: ReadonlyMap<string, string>,
    private readonly navigation: readonly NavigationGroup[],
  ) {}

  /** Opens the documents. Without an index, the navigation is empty. */
  static async open(source: DocumentSource): Promise<Manual> {
    const files = await source.list();
    const path = files.get(INDEX);
    if (path === undefined) return new Manual(files, []);
    return new Manual(files, listGroups(renderMarkdown(INDEX, await Bun.file(path).text(), { files })));
  }

  /** Returns the file at a path below `/docs`, which is empty for the index; null if there is none. */
  find(path: string): string | null {
    return findFile(this.files, path === "" ? INDEX : path);
  }

  /** Returns a picture, or a page as Markdown, as it is stored. */
  readFile(file: string): Promise<PreparedResponse> {
    return this.once(`stored ${file}`, async () => {
      const body = Bun.file(this.pathOf(file));
      const etag = `"${Bun.hash(await body.arrayBuffer()).toString(36)}"`;
      return { body, bytes: body.size, etag };
    });
  }

  /** Returns a page as HTML. */
  readPage(file: string): Promise<PreparedResponse> {
    return this.once(`page ${file}`, async () =>
      prepareText(renderPage(await this.load(file), this.frameAt(urlPathOf(file)))),
    );
  }

  /** Returns what was prepared before under a name, which is of a file that exists. */
  private async once(name: string, prepare: () => Promise<PreparedResponse>): Promise<PreparedResponse> {
    const known = this.prepared.get(name);
    if (known !== undefined) return known;
    const made = await prepare();
    this.prepared.set(name, made);
    return made;
  }

  /** Renders what a search has found. */
  async searchFor(query: string): Promise<string> {
    this.search ??= createSearch([...(await this.listSections()), ...listOperations()]);
    return renderResults(query, this.search(query), this.frameAt("docs/search"));
  }

  /** Renders the page for a path without a file. */
  renderMissing(path: string): string {
    return renderMissing(this.frameAt(`docs/${path}`));
  }

  private frameAt(urlPath: string): Frame {
    return { urlPath, navigation: this.navigation };
  }

  private async load(file: string): Promise<Page> {
    const known = this.pages.get(file);
    if (known !== undefined) return known;
    const page = renderMarkdown(file, await Bun.file(this.pathOf(file)).text(), { files: this.files });
    this.pages.set(file, page);
    return page;
  }

  private async listSections(): Promise<readonly Searchable[]> {
    const files = [...this.files.keys()].filter((file) => file.endsWith(".md") && file !== INDEX);
    const pages: Page[] = [];
    // One after the other, so that requests are answered in between.
    for (const file of files) pages.push(await this.load(file));
    return pages.flatMap(({ file, title: page, sections }) =>
      sections.map(({ id, level, title, text }) => ({
        url: urlPathOf(file) + (level === 1 ? "" : `#${id}`),
        page,
        title,
        text,
      })),
    );
  }

  private pathOf(file: string): string {
    const path = this.files.get(file);
    if (path === undefined) throw new Error(`there is no document ${file}`);
    return path;
  }
}

/** The groups are the headings of the index below its title, with the pages to which their sections link. */
function listGroups({ sections }: Page): readonly NavigationGroup[] {
  return sections
    .filter(({ level, links }) => level > 1 && links.length > 0)
    .map(({ title, links }) => ({
      title,
      links: links.map(({ file, title: name }) => ({ url: urlPathOf(file), title: name })),
    }));
}

/** The operations of the page of all endpoints. */
function listOperations(): readonly Searchable[] {
  return Object.entries(describeApi().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, summary }]) => ({
      url: `docs/reference#${operationId}`,
      page: "All endpoints",
      title: `${method.toUpperCase()} ${path}`,
      text: summary,
    })),
  );
}
