import type { FormatName } from "../conversation/format-name.ts";
import type { Warning } from "../conversation/warning.ts";
import type { Extras, Part } from "./parts.ts";
import type { ConversationRequest } from "./request.ts";

/** Formats that have names of participants, names of files, or a detail of images. */
const TAKES_NAMES: ReadonlySet<FormatName> = new Set(["openai-chat"]);
const NAMELESS_FILES: ReadonlySet<FormatName> = new Set(["gemini"]);
const TAKES_DETAIL: ReadonlySet<FormatName> = new Set(["openai-chat", "openai-responses", "cohere-chat"]);
/** Formats that can carry reasoning of any model, and Bedrock, whose encoder reports what it leaves out. */
const TAKES_REASONING: ReadonlySet<FormatName> = new Set(["openai-chat", "cohere-chat", "bedrock-converse"]);

/**
 * Returns warnings for what a request holds and `format` cannot express, independently of its encoder: extras of another format,
 * names of participants and files, the detail of images, and reasoning in contents. Each kind is reported once, at its first
 * position.
 */
export function nameLeftOut(request: ConversationRequest, format: FormatName): Warning[] {
  const namesFiles = !NAMELESS_FILES.has(format);
  const named = new Map<string, Warning>();
  const name = (place: string, what: string, message: string): void => {
    if (!named.has(what)) named.set(what, { field: place === "" ? what : `${place}.${what}`, message });
  };
  const nameExtras = (place: string, { extras }: { readonly extras?: Extras }): void => {
    if (extras === undefined || extras.format === format) return;
    const message = `This is something only the ${extras.format} format has; it was left out.`;
    for (const [field, value] of Object.entries(extras.fields))
      if (!saysNothing(value)) name(place, field, message);
  };
  const namePart = (place: string, part: Part): void => {
    if (part.kind === "native") return;
    nameExtras(place, part);
    if (part.kind === "reasoning" && part.isContent && !TAKES_REASONING.has(format)) {
      name(place, "thinking", "The provider takes no reasoning that it did not write; it was left out.");
    }
    if (part.kind === "image" && !TAKES_DETAIL.has(format) && isWish(part.detail)) {
      name(place, "detail", "The provider chooses by itself how closely it looks; the detail was left out.");
    }
    if (part.kind === "file" && part.source.kind !== "text" && part.name !== undefined && !namesFiles) {
      name(place, "filename", "Files have no names at this model's provider; the name was left out.");
    }
    if (part.kind !== "tool-result") return;
    for (const [at, inner] of part.content.entries()) namePart(`${place}.content[${at}]`, inner);
  };
  nameExtras("", request);
  for (const [at, tool] of request.tools.entries())
    if (tool.kind !== "native") nameExtras(`tools[${at}]`, tool);
  request.messages.forEach((message, at) => {
    if (message.extras !== undefined) nameExtras(`messages[${at}]`, message);
    if (message.name !== undefined && !TAKES_NAMES.has(format)) {
      name(
        `messages[${at}]`,
        "name",
        "Participants have no names at this model's provider; the name was left out.",
      );
    }
    message.parts.forEach((part, i) => {
      if (mayLose(part)) namePart(`messages[${at}].content[${i}]`, part);
    });
  });
  return [...named.values()];
}

/** Whether a part may hold anything of that kind. Positions are only computed for those few parts that do. */
function mayLose(part: Part): boolean {
  if (part.kind === "text" || part.kind === "tool-call") return part.extras !== undefined;
  return part.kind !== "tool-result" || part.extras !== undefined || part.content.some(mayLose);
}

/** Whether a value is empty, so that its loss need not be reported. */
export function saysNothing(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

function isWish(detail: string | undefined): boolean {
  return detail !== undefined && detail !== "auto";
}
