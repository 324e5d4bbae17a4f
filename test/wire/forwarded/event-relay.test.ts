import { expect, test } from "bun:test";
import { NO_TOKENS } from "../../../src/wire/conversation/usage.ts";
import { EventRelay } from "../../../src/wire/forwarded/event-relay.ts";

const IMAGE = 'data: {"type":"image","usage":null}\n\n';
const ERROR = 'data: {"type":"error","error":{"message":"overloaded"}}\n\n';

test("an error after the first of two images passes the image on and fails the stream", () => {
  const relay = new EventRelay({ last: "image", expected: 2, readUsage: () => NO_TOKENS });
  expect(relay.step(IMAGE)).toBe("");
  expect(relay.step(ERROR)).toBe(IMAGE);
  expect([relay.classifyEnd(), relay.isFinished]).toEqual(["failed", false]);
});

test("an error after all images does not take them back", () => {
  const relay = new EventRelay({ last: "image", expected: 2, readUsage: () => NO_TOKENS });
  relay.step(IMAGE + IMAGE + ERROR);
  expect([relay.classifyEnd(), relay.isFinished]).toEqual(["complete", true]);
});
