import { expect, test } from "bun:test";
import type { Turn } from "../../../src/console/conversation/conversation.ts";
import { cutAfter, removeTurn, replaceText } from "../../../src/console/screens/playground/edit-entries.ts";

const user = (text: string): Turn => ({ role: "user", text, images: [] });
const asked = user("weather?");
const call = { id: "call_1", name: "get_weather", arguments: "{}" };
const called: Turn = { role: "assistant", text: "", reasoning: "", calls: [call] };
const results: Turn = { role: "tool", results: [{ callId: "call_1", name: "get_weather", text: "rain" }] };
const answered: Turn = { role: "assistant", text: "It rains.", reasoning: "", calls: [] };
const entries = [asked, called, results, answered].map((turn) => ({ turn }));
const turnsOf = (list: readonly { turn: Turn }[]) => list.map(({ turn }) => turn);

test("calls and their results are removed together, whichever of the two is removed", () => {
  expect(turnsOf(removeTurn(entries, called))).toEqual([asked, answered]);
  expect(turnsOf(removeTurn(entries, results))).toEqual([asked, answered]);
});

test("a message or an answer without results is removed alone, and a turn of another conversation not at all", () => {
  expect(turnsOf(removeTurn(entries, asked))).toEqual([called, results, answered]);
  expect(turnsOf(removeTurn(entries, answered))).toEqual([asked, called, results]);
  expect(removeTurn(entries, user("weather?"))).toBe(entries);
});

test("a message gets another text and keeps the rest, and results keep theirs", () => {
  const changed = replaceText(entries, asked, "snow?");
  expect(turnsOf(changed)).toEqual([user("snow?"), called, results, answered]);
  expect(turnsOf(replaceText(entries, results, "x"))).toEqual(turnsOf(entries));
});

test("a conversation is cut after a turn", () => {
  expect(turnsOf(cutAfter(entries, asked))).toEqual([asked]);
  expect(turnsOf(cutAfter(entries, answered))).toEqual(turnsOf(entries));
});
