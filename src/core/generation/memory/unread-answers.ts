import { WaitList } from "../../../base/collections/wait-list.ts";
import type { Clock } from "../../../base/time/clock.ts";

/** Answers that wait because their clients are not reading. */
export interface UnreadAnswers {
  /**
   * Counts `bytes` that a client has not read. `giveUp` is called once: when the client reads nothing for too long, or when the unread
   * bytes of all clients exceed their limit and this client has been idle longest.
   */
  begin(bytes: number, giveUp: () => void): UnreadAnswer;
}

/** The unread part of one answer. */
export interface UnreadAnswer {
  /** Records that the client has read something and `bytes` are left. */
  advance(bytes: number): void;
  /** Records that `bytes` were added. */
  grow(bytes: number): void;
  /** Ends the wait: everything was read, or the client has left. Idempotent. */
  end(): void;
}

/** Creates a watch over unread answers. `waitMs` is how long a client may read nothing, `totalBytes` the bound for all clients. */
export function createUnreadAnswers(clock: Clock, waitMs: number, totalBytes: number): UnreadAnswers {
  const waits = new WaitList(clock, waitMs);
  let unreadBytes = 0;

  /** A single answer is exempt from the limit: its client has only just begun to read. */
  const makeRoom = (): void => {
    while (unreadBytes > totalBytes && waits.size > 1) waits.expireLongest();
  };

  return {
    begin(bytes, giveUp) {
      let left = 0;
      const set = (next: number): void => {
        unreadBytes += next - left;
        left = next;
      };
      const wait = waits.begin(() => {
        set(0);
        giveUp();
      });
      set(bytes);
      makeRoom();
      return {
        advance(rest) {
          wait.restart();
          set(rest);
        },
        grow(more) {
          set(left + more);
          makeRoom();
        },
        end() {
          wait.end();
          set(0);
        },
      };
    },
  };
}
