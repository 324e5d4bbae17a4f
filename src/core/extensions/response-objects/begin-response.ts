import type { AdmittedGeneration, Extension, ExtensionPoints } from "../../generation/call/extension.ts";

/** Lets a kept response begin under the id of its generation, once it is admitted and its texts are masked (ADR 32). */
export const BEGIN_RESPONSE: Extension = {
  name: "response-objects",
  attach({ id, call }: AdmittedGeneration): ExtensionPoints | null {
    const { keeps = null } = call;
    if (keeps === null) return null;
    return {
      async beforeRoute({ readBody }) {
        const failure = await keeps.begin(id, readBody);
        return failure === null ? { kind: "continue" } : { kind: "reject", failure };
      },
      beforeAttempt() {
        keeps.onAttempt();
        return null;
      },
    };
  },
};
