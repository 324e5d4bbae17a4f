import { useMemo } from "preact/hooks";
import { Code } from "../../parts/values/values.tsx";
import { text } from "../../text/text.ts";
import { type Block, type Inline, type ListItem, parseMarkdown } from "./markdown.ts";

/** A text in Markdown as elements. It makes no HTML of the text, and links are shown with their URL but cannot be followed. */
export function Markdown({ source }: { source: string }) {
  const blocks = useMemo(() => parseMarkdown(source), [source]);
  return (
    <div class="markdown">
      {blocks.map((block, i) => (
        <BlockView key={`${block.kind}${i}`} block={block} />
      ))}
    </div>
  );
}

function BlockView({ block }: { block: Block }) {
  switch (block.kind) {
    case "code":
      return <Code label={block.language || text.playground.codeBlock} value={block.text} />;
    case "heading":
      return (
        <p class={`heading level-${Math.min(3, block.level)}`}>
          <Line line={block.line} />
        </p>
      );
    case "list":
      return <List items={block.items} isOrdered={block.isOrdered} />;
    case "rule":
      return <hr />;
    default:
      return (
        <p class={block.kind === "quote" ? "quote" : undefined}>
          {block.lines.map((line, i) => (
            <span key={i}>
              {i === 0 ? null : <br />}
              <Line line={line} />
            </span>
          ))}
        </p>
      );
  }
}

function List({ items, isOrdered }: { items: readonly ListItem[]; isOrdered: boolean }) {
  const children = items.map(({ depth, marker, line }, i) => (
    <li key={i} class={`depth-${depth}`}>
      <span class="marker">{/\d/.test(marker) ? marker : "•"}</span>
      <span>
        <Line line={line} />
      </span>
    </li>
  ));
  return isOrdered ? <ol>{children}</ol> : <ul>{children}</ul>;
}

function Line({ line }: { line: readonly Inline[] }) {
  return (
    <>
      {line.map((piece, i) => (
        <Piece key={i} piece={piece} />
      ))}
    </>
  );
}

function Piece({ piece }: { piece: Inline }) {
  switch (piece.kind) {
    case "code":
      return <code>{piece.text}</code>;
    case "bold":
      return <strong>{piece.text}</strong>;
    case "italic":
      return <em>{piece.text}</em>;
    case "link":
      return (
        <span>
          {piece.text} <span class="url">({piece.url})</span>
        </span>
      );
    default:
      return <>{piece.text}</>;
  }
}
