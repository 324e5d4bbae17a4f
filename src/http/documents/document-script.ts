/**
 * The script of the pages: adds a button to each block of code that copies it. The content security policy has its hash, so the pages
 * contain it verbatim. Without scripts the pages lack only these buttons.
 */
export const DOCUMENT_SCRIPT = `
for (const block of document.querySelectorAll(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.setAttribute("aria-live", "polite");
  button.addEventListener("click", async () => {
    const text = block.querySelector("pre").textContent.replace(/\\n$/, "");
    button.textContent = (await copy(text)) ? "Copied" : "Select and copy";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}
async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Browsers have no clipboard on pages without TLS.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    const isDone = document.execCommand("copy");
    area.remove();
    return isDone;
  }
}
`;
