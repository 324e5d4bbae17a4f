/** Characters that HTML gives a meaning, and their references. */
const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (sign) => REFERENCES[sign] as string);

/** The page of the console. `assets` is the path of the folder with the built files, `base` what precedes all paths for the browser. */
export function renderConsolePage(assets: string, base: string): string {
  return `<!doctype html>
<html lang="en" data-base="${escapeHtml(base)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Gateway console</title>
<link rel="icon" href="${escapeHtml(base + assets)}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${escapeHtml(base + assets)}/main.css">
<script src="${escapeHtml(base + assets)}/apply-theme.js"></script>
<script src="${escapeHtml(base + assets)}/main.js" type="module"></script>
</head>
<body>
<div id="app"></div>
<noscript>The console needs JavaScript. Everything that it shows is also in the management API: see <a href="${escapeHtml(base)}/docs">/docs</a>.</noscript>
</body>
</html>
`;
}

/** The style of pages without the console's files. */
const PLAIN_STYLE = `
:root { color-scheme: light dark; }
body { display: grid; place-items: center; min-height: 100vh; margin: 0; padding: 24px; box-sizing: border-box;
  background: light-dark(#fafafa, #141518); color: light-dark(#18181b, #ededef);
  font: 14px/22px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
main { width: 100%; max-width: 440px; padding: 24px; box-sizing: border-box; border-radius: 8px;
  border: 1px solid light-dark(#e8e8ea, #25272c); background: light-dark(#ffffff, #0f1012); }
h1 { margin: 0 0 12px; font-size: 17px; line-height: 24px; }
p { margin: 0 0 12px; overflow-wrap: anywhere; }
nav { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 20px; }
a { padding: 4px 12px; border-radius: 6px; border: 1px solid light-dark(#d4d4d8, #383b42); color: inherit;
  font-weight: 500; text-decoration: none; }
a:hover { background: light-dark(#f4f4f5, #1b1c20); }
a:first-child { border-color: transparent; background: light-dark(#4353c9, #5263e6); color: #ffffff; }
a:first-child:hover { background: light-dark(#3644ac, #4353d6); }
footer { margin-top: 16px; color: light-dark(#6b6b74, #8f929b); font-size: 12px; }
`;
const PLAIN_STYLE_HASH = new Bun.CryptoHasher("sha256").update(PLAIN_STYLE).digest("base64");

/** The content security policy of such a page: nothing but its own style. */
export const PLAIN_POLICY = `default-src 'none'; style-src 'sha256-${PLAIN_STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`;

/** What a page says that stands in for the console. */
interface PlainPage {
  readonly title: string;
  readonly sentences: readonly string[];
  /** What the person can do. The first one is the usual one. */
  readonly links?: readonly { readonly href: string; readonly text: string }[];
  /** The id by which the operator finds the request in the log. */
  readonly requestId?: string;
}

/** A page without scripts, for a console that cannot be shown. Send it with `PLAIN_POLICY`. */
export function renderPlainPage({ title, sentences, links = [], requestId }: PlainPage): string {
  const paragraphs = sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`);
  const anchors = links.map(({ href, text }) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`);
  const parts = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...paragraphs,
    ...(anchors.length === 0 ? [] : [`<nav>${anchors.join("\n")}</nav>`]),
    ...(requestId === undefined ? [] : [`<footer>Request id: ${escapeHtml(requestId)}</footer>`]),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${PLAIN_STYLE}</style>
</head>
<body>
<main>
${parts.join("\n")}
</main>
</body>
</html>
`;
}

/** Shows the end of a sign-in to a person. */
export function showPage(status: 200 | 403, title: string, sentences: readonly string[]): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": PLAIN_POLICY,
    "cache-control": "no-store",
  };
  return new Response(renderPlainPage({ title, sentences }), { status, headers });
}
