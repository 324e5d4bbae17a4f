import type { Node, SourceFile } from "typescript/unstable/ast";
import { SyntaxKind } from "typescript/unstable/ast";
import {
  isAwaitExpression,
  isBigIntLiteral,
  isBinaryExpression,
  isCallExpression,
  isConditionalExpression,
  isElementAccessExpression,
  isExpressionStatement,
  isIdentifier,
  isIfStatement,
  isNumericLiteral,
  isPropertyAccessExpression,
  isTypeNode,
  isWhileStatement,
} from "typescript/unstable/ast/is";

export const MUTANT_KINDS = [
  "negated condition",
  "shifted bound",
  "dropped statement",
  "dropped await",
  "swapped arguments",
  "changed constant",
] as const;

export type MutantKind = (typeof MUTANT_KINDS)[number];

/** One small change of a source file: the text from `start` to `end` is replaced. */
export interface Mutant {
  readonly file: string;
  readonly kind: MutantKind;
  /** Line of the change, from 1. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
  /** The two arguments that change places. They are only worth a try if they have one type: otherwise the compiler notices. */
  readonly swapped?: readonly [Node, Node];
}

interface Change {
  readonly kind: MutantKind;
  readonly node: Node;
  readonly after: string;
  readonly swapped?: readonly [Node, Node];
}

/** Operators whose other form is a likely mistake, and that form. */
const OTHER_OPERATOR: ReadonlyMap<SyntaxKind, readonly [MutantKind, string]> = new Map([
  [SyntaxKind.LessThanToken, ["shifted bound", "<="]],
  [SyntaxKind.LessThanEqualsToken, ["shifted bound", "<"]],
  [SyntaxKind.GreaterThanToken, ["shifted bound", ">="]],
  [SyntaxKind.GreaterThanEqualsToken, ["shifted bound", ">"]],
  [SyntaxKind.EqualsEqualsEqualsToken, ["negated condition", "!=="]],
  [SyntaxKind.ExclamationEqualsEqualsToken, ["negated condition", "==="]],
  [SyntaxKind.AmpersandAmpersandToken, ["negated condition", "||"]],
  [SyntaxKind.BarBarToken, ["negated condition", "&&"]],
]);

/** Calls that only tell something: dropping one changes no promise. */
const TELLING = /^(log|this\.#?log|console|deps\.log|this\.#?deps\.log)\b/;

/** Functions that give the same for arguments in any order. */
const SYMMETRIC = /^Math\.|(^|\.)(highestOf|earlier|later|isSame\w*|equals?\w*)$/;

/**
 * Returns all small changes of a file, in the order of the text: negated conditions, shifted bounds, dropped statements and awaits,
 * swapped arguments and changed constants. Types are left alone.
 *
 * @param file path from the project's root
 */
export function findMutants(file: string, source: SourceFile): Mutant[] {
  const { text } = source;
  const mutants: Mutant[] = [];
  const visit = (node: Node): void => {
    if (isTypeNode(node) || node.kind === SyntaxKind.ImportDeclaration) return;
    for (const change of changesOf(node, text)) mutants.push(toMutant(file, text, change));
    node.forEachChild(visit);
  };
  source.forEachChild(visit);
  return mutants;
}

function toMutant(file: string, text: string, { node, ...change }: Change): Mutant {
  const start = startOf(node, text);
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < start; at = text.indexOf("\n", at + 1)) line += 1;
  return { file, line, start, end: node.end, before: text.slice(start, node.end), ...change };
}

function changesOf(node: Node, text: string): Change[] {
  return [
    ...conditionChanges(node, text),
    ...operatorChanges(node),
    ...droppedStatements(node, text),
    ...swappedArguments(node, text),
    ...changedConstants(node),
  ];
}

function conditionChanges(node: Node, text: string): Change[] {
  const condition =
    isIfStatement(node) || isWhileStatement(node)
      ? node.expression
      : isConditionalExpression(node)
        ? node.condition
        : undefined;
  // A comparison is negated by its operator.
  if (condition === undefined || isBinaryExpression(condition)) return [];
  return [{ kind: "negated condition", node: condition, after: `!(${textOf(condition, text)})` }];
}

function operatorChanges(node: Node): Change[] {
  if (!isBinaryExpression(node)) return [];
  const other = OTHER_OPERATOR.get(node.operatorToken.kind);
  return other === undefined ? [] : [{ kind: other[0], node: node.operatorToken, after: other[1] }];
}

function droppedStatements(node: Node, text: string): Change[] {
  if (isAwaitExpression(node)) {
    return [{ kind: "dropped await", node, after: textOf(node.expression, text) }];
  }
  if (!isExpressionStatement(node)) return [];
  const { expression } = node;
  const isWorth =
    isCallExpression(expression) ||
    isAwaitExpression(expression) ||
    (isBinaryExpression(expression) && expression.operatorToken.kind !== SyntaxKind.CommaToken);
  const written = textOf(expression, text);
  if (!isWorth || written.startsWith("super(") || TELLING.test(written)) return [];
  return [{ kind: "dropped statement", node, after: ";" }];
}

function swappedArguments(node: Node, text: string): Change[] {
  if (!isCallExpression(node) || SYMMETRIC.test(textOf(node.expression, text))) return [];
  const changes: Change[] = [];
  for (let index = 0; index + 1 < node.arguments.length; index++) {
    const [first, second] = [node.arguments[index]!, node.arguments[index + 1]!];
    if (!isSimple(first) || !isSimple(second)) continue;
    const [a, b] = [textOf(first, text), textOf(second, text)];
    if (a === b) continue;
    const all = textOf(node, text);
    const [from, to] = [startOf(first, text) - startOf(node, text), second.end - startOf(node, text)];
    const after = `${all.slice(0, from)}${b}, ${a}${all.slice(to)}`;
    changes.push({ kind: "swapped arguments", node, after, swapped: [first, second] });
  }
  return changes;
}

function isSimple(node: Node): boolean {
  return (
    isIdentifier(node) ||
    isPropertyAccessExpression(node) ||
    isElementAccessExpression(node) ||
    isNumericLiteral(node)
  );
}

function changedConstants(node: Node): Change[] {
  const kind = "changed constant";
  if (node.kind === SyntaxKind.TrueKeyword) return [{ kind, node, after: "false" }];
  if (node.kind === SyntaxKind.FalseKeyword) return [{ kind, node, after: "true" }];
  if (isBigIntLiteral(node)) return [{ kind, node, after: `(${node.text} + 1n)` }];
  if (isNumericLiteral(node)) return [{ kind, node, after: `(${node.text} + 1)` }];
  return [];
}

function textOf(node: Node, text: string): string {
  return text.slice(startOf(node, text), node.end);
}

/** Returns where a node begins behind the spaces and comments before it. */
function startOf(node: Node, text: string): number {
  let at = node.pos;
  for (;;) {
    while (/\s/.test(text[at] ?? "")) at += 1;
    if (text.startsWith("//", at)) at = endOf(text, "\n", at);
    else if (text.startsWith("/*", at)) at = endOf(text, "*/", at);
    else return at;
  }
}

function endOf(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from);
  return at < 0 ? text.length : at + end.length;
}
