import { relativeUrl, resolveLink, urlPathOf } from "./page-path.ts";

/** A heading of a page, with the text up to the next heading. */
export interface Section {
  /** The id of the heading in the page. */
  readonly id: string;
  readonly level: number;
  readonly title: string;
  readonly text: string;
  /** The pages that the section links to. */
  readonly links: readonly PageLink[];
}

/** A link to another page of the documents. */
export interface PageLink {
  readonly file: string;
  readonly title: string;
}

/** A page that is made of a file in Markdown. */
export interface Page {
  readonly file: string;
  readonly title: string;
  /** The content of the page as HTML. */
  readonly markup: string;
  readonly sections: readonly Section[];
}

const EXTERNAL = /^[a-z][a-z+.-]*:/i;
const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
};

/**
 * Renders a page of the documents. Links lead to the URLs of pages and pictures; a link to a file that is not served becomes its text.
 * Tables and blocks of code can be scrolled, also with the keyboard.
 */
export function renderMarkdown(
  file: string,
  text: string,
  { files }: { readonly files: ReadonlyMap<string, string> },
): Page {
  const sections = new SectionCollector();
  const markup = new HTMLRewriter()
    .on("h1,h2,h3,h4,h5,h6", {
      element(heading) {
        sections.begin(heading.getAttribute("id") ?? "", Number(heading.tagName.slice(1)));
        heading.onEndTag(() => sections.endHeading());
      },
    })
    .on("a", {
      element(link) {
        const href = link.getAttribute("href") ?? "";
        if (EXTERNAL.test(href)) return;
        const target = resolveLink(files, file, href);
        if (target === null) return void link.removeAndKeepContent();
        if (target.file !== file) {
          sections.beginLink(target.file);
          link.onEndTag(() => sections.endLink());
        }
        link.setAttribute("href", relativeUrl(urlPathOf(file), urlPathOf(target.file)) + target.anchor);
      },
    })
    .on("img", {
      element(picture) {
        const target = resolveLink(files, file, picture.getAttribute("src") ?? "");
        if (target === null) return void picture.remove();
        picture.setAttribute("src", relativeUrl(urlPathOf(file), urlPathOf(target.file)));
        picture.setAttribute("loading", "lazy");
      },
    })
    .on("table", {
      element(table) {
        table.before('<div class="scroll" role="group" aria-label="Table" tabindex="0">', { html: true });
        table.after("</div>", { html: true });
      },
    })
    .on("pre", {
      element(block) {
        block.setAttribute("tabindex", "0");
        block.before('<div class="code">', { html: true });
        block.after("</div>", { html: true });
      },
    })
    // Between the texts of two cells or items there is no space in HTML.
    .on("td,th,li", { element: () => sections.add(" ") })
    .onDocument({
      // Comments are instructions for tests and generators.
      comments: (comment) => void comment.remove(),
      text: ({ text: piece }) => sections.add(decode(piece)),
    })
    .transform(Bun.markdown.html(text, { headings: { ids: true } }));
  const found = sections.end();
  return { file, title: found[0]?.title ?? file, markup, sections: found };
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] as string);
}

/** Collects the sections of a page while its elements and texts are read in order. */
class SectionCollector {
  private readonly sections: { -readonly [K in keyof Section]: Section[K] }[] = [];
  private links: PageLink[] = [];
  private isInHeading = false;
  private link: { readonly file: string; title: string } | null = null;

  begin(id: string, level: number): void {
    this.links = [];
    this.sections.push({ id, level, title: "", text: "", links: this.links });
    this.isInHeading = true;
  }

  endHeading(): void {
    this.isInHeading = false;
  }

  beginLink(file: string): void {
    this.link = { file, title: "" };
  }

  endLink(): void {
    if (this.link !== null) this.links.push(this.link);
    this.link = null;
  }

  add(text: string): void {
    if (this.link !== null) this.link.title += text;
    const section = this.sections.at(-1);
    if (section === undefined) return;
    if (this.isInHeading) section.title += text;
    else section.text += text;
  }

  end(): readonly Section[] {
    return this.sections.map((section) => ({
      ...section,
      text: section.text.replaceAll(/\s+/g, " ").trim(),
    }));
  }
}
