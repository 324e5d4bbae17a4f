import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { MediaPart, Part } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

type TargetFormat = Pick<FormatTraits, "name" | "contents">;

/** The text before images of an earlier answer in a user message. */
const NOTE: Part = { kind: "text", text: "Images from the assistant's answer above:" };

/** A conversation whose assistant messages contain only parts that the target accepts. */
interface PlacedImages {
  readonly request: ConversationRequest;
  readonly warnings: readonly Warning[];
}

/**
 * Moves images that a model made to where the target accepts them: most formats only accept images from users, so they go into the
 * following user message, after the results of the turn's calls. They are dropped for a model that does not accept images. Images
 * that the client sent in the target's own format stay.
 */
export function placeMadeImages(
  request: ConversationRequest,
  format: TargetFormat,
  takesImages: boolean,
): PlacedImages {
  const isAnyTaken = format.contents.assistantImages === "all";
  if (isAnyTaken || !request.messages.some((message) => hasMadeImages(message, format)))
    return { request, warnings: [] };
  const messages: Message[] = [];
  const warnings: Warning[] = [];
  let images: Part[] = [];
  const giveImages = (next: Message | undefined): Message | undefined => {
    if (images.length === 0 || next?.role === "tool") return next;
    const parts = [NOTE, ...images];
    images = [];
    if (next?.role === "user") return { ...next, parts: [...parts, ...next.parts] };
    messages.push({ role: "user", parts });
    return next;
  };
  for (const [at, message] of request.messages.entries()) {
    const placed = giveImages(message) as Message;
    if (!hasMadeImages(placed, format)) {
      messages.push(placed);
      continue;
    }
    const made = placed.parts.filter((part) => isMadeImage(part, format));
    warnings.push({ field: `messages[${at}]`, message: takesImages ? MOVED : LEFT_OUT });
    if (takesImages) images.push(...made.map(withoutSignature));
    const parts = placed.parts.filter((part) => !isMadeImage(part, format));
    if (parts.length > 0) messages.push({ ...placed, parts });
  }
  giveImages(undefined);
  return { request: { ...request, messages }, warnings };
}

const MOVED = "The model accepts images only from users; those of this answer were sent as a user message.";
const LEFT_OUT = "The model does not read images; those of this answer were left out.";

function hasMadeImages({ role, parts }: Message, format: TargetFormat): boolean {
  if (role !== "assistant") return false;
  for (const part of parts) if (isMadeImage(part, format)) return true;
  return false;
}

function isMadeImage(part: Part, { name, contents }: TargetFormat): part is MediaPart {
  // Messages and Converse reject them in any spelling.
  return part.kind === "image" && (contents.assistantImages !== "sent" || part.extras?.format !== name);
}

function withoutSignature(part: MediaPart): MediaPart {
  const { signature: _, extras: __, ...image } = part;
  return image;
}
