import { describe, expect, test } from "bun:test";
import { formatBytes } from "../../../src/console/parts/values/format.ts";
import { describeItem } from "../../../src/console/screens/responses/describe-item.ts";

describe("an item of a kept response", () => {
  test("is shown as its text if it is a message that has only texts", () => {
    expect(describeItem({ role: "user", content: "Hi" })).toEqual({ name: "message · user", body: "Hi" });
    const content = [
      { type: "output_text", text: "Hello" },
      { type: "output_text", text: "there" },
    ];
    expect(describeItem({ type: "message", role: "assistant", content })).toEqual({
      name: "message · assistant",
      body: "Hello\nthere",
    });
  });

  test("is shown as JSON if it is something else, or has more than texts", () => {
    const call = { type: "function_call", name: "search", arguments: "{}" };
    expect(describeItem(call)).toEqual({
      name: "function_call · search",
      body: JSON.stringify(call, null, 2),
    });
    const image = { type: "message", role: "user", content: [{ type: "input_image", image_url: "x" }] };
    expect(describeItem(image).body).toBe(JSON.stringify(image, null, 2));
  });
});

test("a size is shown in decimal units with three digits at most", () => {
  expect(
    [0, 840, 1_000, 10_000, 12_345, 200_000, 123_456, 1_050_000, 1_073_741_824].map(formatBytes),
  ).toEqual([...["0 B", "840 B", "1 kB", "10 kB", "12.3 kB", "200 kB", "123 kB", "1.05 MB", "1.07 GB"]]);
});
