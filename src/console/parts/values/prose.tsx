/** A description of the API, in which names between backticks are code. */
export function Prose({ children }: { children: string }) {
  return (
    <>
      {children.split("`").map((part, i) => (i % 2 === 1 ? <code key={`${i} ${part}`}>{part}</code> : part))}
    </>
  );
}
