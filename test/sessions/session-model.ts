import type { Conversation, Entry, Reply } from "../agents/vendors/scripted-model.ts";

/** What a user asks: topics of one step are looked up in parallel, and steps one after the other. */
const TASK = /^Look up (.+)\.$/;

/** Returns the task of a user: `Look up a, then b and c.` */
export function writeTask(steps: readonly (readonly string[])[]): string {
  return `Look up ${steps.map((topics) => topics.join(" and ")).join(", then ")}.`;
}

/** The result of the tool for a topic. */
export function lookUp(topic: string): string {
  return `the value of ${topic} is ${topic.length}${topic}`;
}

/** Returns the next step of the last task in a conversation: calls of the tool `lookup`, or the answer after the last step. */
export function decideStep({ entries }: Conversation): Reply {
  const asked = entries.findLastIndex((entry) => entry.kind === "text" && TASK.test(entry.text));
  if (asked < 0) throw new Error("the vendor got no task");
  const task = TASK.exec((entries[asked] as Entry & { kind: "text" }).text)?.[1] ?? "";
  const steps = task.split(", then ").map((step) => step.split(" and "));
  const later = entries.slice(asked + 1);
  const found = later.filter(({ kind }) => kind === "result").length;
  let before = 0;
  for (const topics of steps) {
    if (before === found) {
      const calls = topics.map((topic) => ({ name: "lookup", arguments: { topic } }));
      return {
        reasoning: `I need ${topics.join(" and ")}.`,
        text: `I look up ${topics.join(" and ")}.`,
        calls,
      };
    }
    before += topics.length;
  }
  return { reasoning: "Everything is known.", text: `I found ${steps.flat().join(", ")}.`, calls: [] };
}
