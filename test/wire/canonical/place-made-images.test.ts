import { describe, expect, test } from "bun:test";
import { placeMadeImages } from "../../../src/wire/canonical/fit/place-made-images.ts";
import type { Part } from "../../../src/wire/canonical/model/parts.ts";
import {
  type ConversationRequest,
  EMPTY_REQUEST,
  type Message,
} from "../../../src/wire/canonical/model/request.ts";
import type { FormatName } from "../../../src/wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS } from "../../../src/wire/formats/traits.ts";

const IMAGE: Part = {
  kind: "image",
  source: { kind: "base64", mediaType: "image/png", data: "AAAA" },
  signature: { value: "p", origin: "google-gemini-v1" },
};
const { signature: _, ...BARE_IMAGE } = IMAGE;
const text = (words: string): Part => ({ kind: "text", text: words });
const CALL: Part = { kind: "tool-call", id: "c", name: "look", tool: "function", arguments: "{}" };
const RESULT: Part = { kind: "tool-result", callId: "c", tool: "function", content: [], isError: false };
const NOTE = text("Images from the assistant's answer above:");

const say = (role: Message["role"], ...parts: Part[]): Message => ({ role, parts });

function place(messages: readonly Message[], format: FormatName = "anthropic-messages", takesImages = true) {
  const request: ConversationRequest = { ...EMPTY_REQUEST, messages };
  const { request: placed, warnings } = placeMadeImages(request, FORMAT_TRAITS[format], takesImages);
  return {
    messages: placed.messages,
    warned: warnings.map(({ field }) => field),
    isSame: placed === request,
  };
}

describe("images that a model generated", () => {
  test("are moved into the following user message", () => {
    const { messages, warned } = place([
      say("user", text("Paint!")),
      say("assistant", text("Here:"), IMAGE),
      say("user", text("Bluer!")),
    ]);
    expect(messages).toEqual([
      say("user", text("Paint!")),
      say("assistant", text("Here:")),
      say("user", NOTE, BARE_IMAGE as Part, text("Bluer!")),
    ]);
    expect(warned).toEqual(["messages[1]"]);
  });

  test("follow the tool results of their turn, which stay directly after the calls", () => {
    const { messages } = place([
      say("assistant", IMAGE, CALL),
      say("tool", RESULT),
      say("assistant", text("Done."), IMAGE),
    ]);
    expect(messages).toEqual([
      say("assistant", CALL),
      say("tool", RESULT),
      say("user", NOTE, BARE_IMAGE as Part),
      say("assistant", text("Done.")),
      say("user", NOTE, BARE_IMAGE as Part),
    ]);
  });

  test("are moved out of a message that is removed if it has no other content", () => {
    const { messages } = place([
      say("user", text("Paint!")),
      say("assistant", IMAGE),
      say("user", text("?")),
    ]);
    expect(messages).toEqual([say("user", text("Paint!")), say("user", NOTE, BARE_IMAGE as Part, text("?"))]);
  });

  test("are left out with a warning for a model that does not accept images", () => {
    const { messages, warned } = place(
      [say("assistant", text("Here:"), IMAGE), say("user", text("Thanks."))],
      "openai-chat",
      false,
    );
    expect(messages).toEqual([say("assistant", text("Here:")), say("user", text("Thanks."))]);
    expect(warned).toEqual(["messages[0]"]);
  });

  test.each(["gemini", "openai-responses"] as const)(
    "stay in the assistant message for the format %s",
    (format) => {
      expect(place([say("assistant", IMAGE), say("user", text("?"))], format).isSame).toBe(true);
    },
  );

  test("are absent from most conversations, which are returned unchanged", () => {
    expect(place([say("user", IMAGE), say("assistant", text("An image."))]).isSame).toBe(true);
  });
});
