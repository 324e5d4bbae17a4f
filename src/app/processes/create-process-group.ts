import type { Clock } from "../../base/time/clock.ts";
import type { ProcessGroup, ProcessMetrics } from "../watch/process-group.ts";
import type { FromProcess, ToProcess } from "./messages.ts";
import { Questions } from "./questions.ts";

/** The group of a process, which the messages of its supervisor are passed to. */
interface ConnectedGroup extends ProcessGroup {
  receive(message: ToProcess): void;
}

/** Creates the group of process `index`. `send` sends a message to the supervisor. */
export function createProcessGroup(
  index: number,
  { clock, send }: { readonly clock: Clock; readonly send: (message: FromProcess) => void },
): ConnectedGroup {
  const questions = new Questions<readonly ProcessMetrics[]>(clock);
  let readOwn: () => Promise<ProcessMetrics> = async () => [];
  return {
    index,
    serveMetrics(read) {
      readOwn = read;
    },
    readOthers: async () => (await questions.ask((id) => send({ kind: "readOthers", id }))) ?? [],
    receive(message) {
      if (message.kind === "others") questions.answer(message.id, message.others);
      if (message.kind === "readMetrics")
        readOwn()
          .then((metrics) => send({ kind: "metrics", id: message.id, metrics }))
          // The supervisor has ended, so that nothing waits for the answer.
          .catch(() => {});
    },
  };
}
