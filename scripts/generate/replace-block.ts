/**
 * Returns a document with another text between the two marks of a generated block, `<!-- NAME: written by … -->` and
 * `<!-- end of NAME -->`.
 * @throws Error if the document has lost one of them.
 */
export function replaceBlock(document: string, name: string, text: string): string {
  const begin = document.indexOf("\n", document.indexOf(`<!-- ${name}: written by `)) + 1;
  const end = document.indexOf(`<!-- end of ${name} -->`);
  if (!document.includes(`<!-- ${name}: written by `) || end < begin)
    throw new Error(`the document has lost the marks of its block "${name}"`);
  return `${document.slice(0, begin)}${text}\n${document.slice(end)}`;
}
