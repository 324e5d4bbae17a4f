import { type Contestant, chatDoor } from "./contestant.ts";

/** No gateway: the load directly at the upstream. What the bench itself can do. */
export const direct: Contestant = {
  name: "direct",
  label: "no gateway",
  async prepare() {},
  async start(upstreamPort) {
    const door = chatDoor(upstreamPort);
    return { name: "direct", door, lanes: new Map(), pid: null, databasePid: null, stop: async () => {} };
  },
};
