import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { Extras, Part } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

type TargetFormat = Pick<FormatTraits, "name" | "contents">;

/**
 * Returns warnings for content that `format` cannot express, independently of its encoder: extras of another format, names of participants
 * and files, the detail of images, and reasoning in contents. Each kind is reported once, at its first position.
 */
export function listLostFields(request: ConversationRequest, format: TargetFormat): Warning[] {
  const lost = new LostFields(format);
  lost.addExtras("", request);
  for (const [at, tool] of request.tools.entries())
    if (tool.kind !== "native") lost.addExtras(`tools[${at}]`, tool);
  let at = 0;
  for (const message of request.messages) lost.addMessage(message, at++);
  return lost.list();
}

/** Collects a warning for each kind of lost field. */
class LostFields {
  private readonly byName = new Map<string, Warning>();

  constructor(private readonly format: TargetFormat) {}

  list(): Warning[] {
    return [...this.byName.values()];
  }

  addMessage(message: Message, at: number): void {
    if (message.extras !== undefined) this.addExtras(`messages[${at}]`, message);
    if (message.name !== undefined && this.format.contents.takesNames !== true)
      this.add(`messages[${at}]`, "name", NO_PARTICIPANTS);
    let index = 0;
    for (const part of message.parts) {
      if (mayLose(part)) this.addPart(`messages[${at}].content[${index}]`, part);
      index++;
    }
  }

  addExtras(path: string, { extras }: { readonly extras?: Extras }): void {
    if (extras === undefined || extras.format === this.format.name) return;
    const message = `Only the ${extras.format} format has this; it was left out.`;
    for (const [field, value] of Object.entries(extras.fields))
      if (!isEmptyValue(value)) this.add(path, field, message);
  }

  private addPart(path: string, part: Part): void {
    const { contents } = this.format;
    if (part.kind === "native") return;
    this.addExtras(path, part);
    if (part.kind === "reasoning" && part.isContent && contents.takesReasoning !== true)
      this.add(path, "thinking", OTHERS_REASONING);
    if (part.kind === "image" && contents.takesDetail !== true && isDetail(part.detail))
      this.add(path, "detail", NO_DETAIL);
    const isNamedFile = part.kind === "file" && part.source.kind !== "text" && part.name !== undefined;
    if (isNamedFile && contents.losesFileNames === true) this.add(path, "filename", NO_FILE_NAMES);
    if (part.kind !== "tool-result") return;
    for (const [at, inner] of part.content.entries()) this.addPart(`${path}.content[${at}]`, inner);
  }

  private add(path: string, name: string, message: string): void {
    if (!this.byName.has(name))
      this.byName.set(name, { field: path === "" ? name : `${path}.${name}`, message });
  }
}

const OTHERS_REASONING = "The provider does not accept reasoning that it did not write; it was left out.";
const NO_DETAIL = "The provider chooses the level of detail itself; the detail was left out.";
const NO_FILE_NAMES = "Files have no names at this model's provider; the name was left out.";
const NO_PARTICIPANTS = "Participants have no names at this model's provider; the name was left out.";

/** Whether a part may hold a field that is lost. Paths are only computed for those few parts that do. */
function mayLose(part: Part): boolean {
  if (part.kind === "text" || part.kind === "tool-call") return part.extras !== undefined;
  return part.kind !== "tool-result" || part.extras !== undefined || part.content.some(mayLose);
}

/** Whether a value is empty, so that its loss need not be reported. */
export function isEmptyValue(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === "") return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/** Whether the client chose a detail. */
function isDetail(detail: string | undefined): boolean {
  return detail !== undefined && detail !== "auto";
}
