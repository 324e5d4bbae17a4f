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

/** A page without scripts and styles, for a console that cannot be shown. */
export function renderPlainPage(title: string, sentences: readonly string[]): string {
  const paragraphs = sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join("\n");
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>${escapeHtml(title)}</title></head>
<body>
<h1>${escapeHtml(title)}</h1>
${paragraphs}
</body>
</html>
`;
}

/** Shows the end of a sign-in to a person. */
export function showPage(status: 200 | 403, title: string, sentences: readonly string[]): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
  };
  return new Response(renderPlainPage(title, sentences), { status, headers });
}
