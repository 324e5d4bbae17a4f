import type { Clock } from "../../base/clock.ts";
import { WaitList } from "../../base/wait-list.ts";

/** Answers that are made and that their clients do not read at the moment. */
export interface UnreadAnswers {
  /**
   * Counts `bytes` that a client has not taken. `giveUp` is called once, when it takes nothing for too long, or when the
   * unread bytes of all clients exceed their bound and this client has taken nothing for the longest time.
   */
  begin(bytes: number, giveUp: () => void): UnreadAnswer;
}

/** The unread part of one answer. */
export interface UnreadAnswer {
  /** The client has taken something, and `bytes` are left. */
  advance(bytes: number): void;
  /** So many bytes were added. */
  grow(bytes: number): void;
  /** Nothing is left, or nobody wants it. Idempotent. */
  end(): void;
}

/** Watches over unread answers: `waitMs` is how long a client may take nothing, `totalBytes` the bound for all together. */
export function createUnreadAnswers(clock: Clock, waitMs: number, totalBytes: number): UnreadAnswers {
  const waits = new WaitList(clock, waitMs);
  let unreadBytes = 0;

  /** A single answer may be as large as it is: its client has only just begun to read. */
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
