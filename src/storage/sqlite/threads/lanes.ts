import type { SqliteStores } from "../stores.ts";

/**
 * The threads of a database, by their tasks. `write` has the only connection that changes the database. `lookup` answers what requests wait
 * for: single rows, and what the gateway reads twice a second. `list` reads pages, `report` sums of usage, and `check` the whole ledger. So
 * no task waits for one that takes longer.
 */
export type Lane = "write" | "lookup" | "list" | "report" | "check";

/**
 * A method that changes a record by a function, which cannot be sent to a thread. The record is read with `find`, changed here, and written
 * if the stored one is still the same.
 */
export interface ChangeMethod {
  readonly find: string;
}

/** How a method of a store is called: in which lane, or as a change. */
export type LaneCall = Lane | ChangeMethod;

type StoreCalls<Store> = { readonly [Method in keyof Store]: LaneCall };

/** How each method of each store is called. */
export const CALLS: { readonly [Name in keyof SqliteStores]: StoreCalls<SqliteStores[Name]> } = {
  accounts: {
    insertAccount: "write",
    changeAccount: { find: "findAccount" },
    findAccount: "lookup",
    findAccountNames: "list",
    listAccounts: "list",
    putMember: "write",
    removeMember: "write",
    findMember: "lookup",
    listMembers: "list",
    listMemberships: "lookup",
    accountRevision: "lookup",
  },
  answers: { claimKey: "write", storeResponse: "write", releaseKey: "write" },
  audit: {
    appendAudit: "write",
    beginChange: "write",
    commitChange: "write",
    abortChange: "write",
    settleChanges: "write",
    listAudit: "list",
    readAudit: "list",
  },
  budgets: {
    listBudgets: "lookup",
    listAllBudgets: "list",
    findBudget: "lookup",
    insertBudget: "write",
    changeBudget: { find: "findBudget" },
    deleteBudget: "write",
    sumBudgets: "list",
    listTopSums: "list",
    claimMarks: "write",
    mergeDays: "write",
  },
  config: {
    configChanges: "lookup",
    findLatestConfig: "lookup",
    findConfigRevision: "list",
    listConfigRevisions: "list",
    beginConfig: "write",
    putConfig: "write",
    listConfigSecrets: "lookup",
    listSealedByOthers: "lookup",
    reseal: "write",
    listMasterKeysInUse: "lookup",
  },
  consoleSessions: {
    insertSession: "write",
    findSession: "lookup",
    findSessionByHash: "lookup",
    listSessions: "list",
    touchSession: "write",
    deleteSession: "write",
    insertCode: "write",
    takeCode: "write",
  },
  drains: { drainRevision: "lookup", listDrains: "lookup", putDrain: "write", deleteDrain: "write" },
  formerTiers: { listFormerTiers: "lookup" },
  healthHistory: {
    addOutcomes: "write",
    listOutcomes: "report",
    reportIncident: "write",
    listIncidents: "list",
    sweepHistory: "write",
  },
  identities: {
    findIdentity: "lookup",
    addIdentity: "write",
    listIdentities: "list",
    removeIdentity: "write",
  },
  oidcTrials: {
    insertTrial: "write",
    findTrial: "lookup",
    findTrialByState: "lookup",
    endTrial: "write",
    hasSucceeded: "lookup",
  },
  keys: {
    insertKey: "write",
    findKey: "lookup",
    findKeyByHash: "lookup",
    findKeyNames: "list",
    listKeys: "list",
    listExpiringKeys: "list",
    changeKey: { find: "findKey" },
    revokeKey: "write",
    recordKeyUses: "write",
    keyRevision: "lookup",
  },
  ledger: {
    addTransfer: "write",
    findTransfer: "lookup",
    listRefunds: "list",
    findBalance: "lookup",
    listCreditChanges: "lookup",
    listTransfers: "list",
    sumTransfers: "list",
    addRefund: "write",
    findGrantsLeft: "lookup",
    listEndedGrants: "lookup",
    expireGrant: "write",
    sumSpending: "lookup",
    findDifferences: "check",
    findUnmatchedUsage: "check",
  },
  namedRoutes: {
    namedRouteRevision: "lookup",
    listNamedRoutes: "lookup",
    listNamedRouteVersions: "list",
    putNamedRoute: "write",
    deleteNamedRoute: "write",
  },
  promptLog: {
    addEntries: "write",
    findEntry: "list",
    hasEntry: "list",
    deleteExpired: "write",
    listSealedByOthers: "list",
    reseal: "write",
    listMasterKeysInUse: "list",
  },
  providerKeys: {
    insertProviderKey: "write",
    updateProviderKey: "write",
    removeProviderKey: "write",
    findProviderKey: "lookup",
    listProviderKeys: "lookup",
    providerKeyRevision: "lookup",
    recordKeyUses: "write",
    listSealedByOthers: "lookup",
    reseal: "write",
    listMasterKeysInUse: "lookup",
  },
  rejections: {
    addRejections: "write",
    findRejection: "list",
    listRejections: "list",
    deleteRejectionsBefore: "write",
    deleteExcessRejections: "write",
  },
  retention: { dropUsage: "write" },
  rollUp: { rollUpHours: "write" },
  settings: { findSetting: "lookup", addSetting: "write", putSetting: "write" },
  usage: {
    saveUsage: "write",
    quarantineUsage: "write",
    listQuarantined: "list",
    findUsage: "lookup",
    findOpenUsage: "lookup",
    findAbandonedUsage: "lookup",
    findAnonymousSince: "lookup",
    findFreeSince: "lookup",
    sumUsage: "report",
    hasWholeDays: "report",
    addTimes: "write",
    readTimes: "report",
    listGenerations: "list",
    findGenerations: "list",
    findByRequest: "list",
    listStates: "list",
    countGenerations: "list",
  },
};
