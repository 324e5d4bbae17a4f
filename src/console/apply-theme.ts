/** Applies the stored theme before the first paint. A classic script, because modules run after it. */
try {
  const stored = localStorage.getItem("console.theme");
  if (stored === "light" || stored === "dark") document.documentElement.dataset["theme"] = stored;
} catch {
  // Storage may be forbidden; then the theme of the system applies.
}
