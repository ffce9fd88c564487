// What the package offers. Everything else is internal.
export { Assignment, assign } from './assign.js';
export { Client } from './client.js';
export { HandlerSocketError, ReplyError } from './errors.js';
export { MAX_GROUP } from './group.js';
export { Index } from './handle.js';
export { CONNECTION_CHANNEL, REQUEST_CHANNEL, otelAttributes, otelSpanName } from './observe.js';
export { Range, range } from './range.js';
export { SERVER_ERRORS } from './server-errors.js';

export type { Address, ReadFrom } from './addresses.js';
export type { ColumnType, CustomType, TypeMap, TypeName, ValueOf } from './column-types.js';
export type { Bounds } from './assign.js';
export type { CallOptions, RequestOptions } from './core.js';
export type { DescribedColumn, DescribedPart, Description } from './description.js';
export type { ErrorKind } from './errors.js';
export type {
  Changes,
  CountOptions,
  Filter,
  FindInOptions,
  FindOptions,
  InsertManyOptions,
  Key,
  KeyValues,
  NewValues,
  RowValues,
  UpsertOptions,
  Writable,
} from './call-types.js';
export type { On, Results } from './group.js';
export type { Columns } from './handle.js';
export type {
  DescribeOptions,
  DescribedRow,
  IndexOptions,
  IndexOptionsOf,
  IndexPlace,
  NamedRow,
  TablePlace,
  TypesFor,
  TypesOptions,
} from './index-options.js';
export type { ListedIndex, ListedPart } from './list.js';
export type { Done, Outcome } from './replies.js';
export type { ConnectionEvent, Counters, Hooks, Logger, RequestEvent, RouteName } from './observe.js';
export type { Options } from './options.js';
export type { Settled } from './pipeline.js';
export type { RangeOptions } from './range.js';
export type { Duplicate, FilterOp, FindOp } from './requests.js';
export type { ServerError, ServerErrorKind, ServerErrorRetry } from './server-errors.js';
export type { Value } from './tokens.js';
