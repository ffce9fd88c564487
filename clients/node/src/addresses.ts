// The client's list of addresses: which of them is current, which of them is read from. Nothing here connects.
import { randomInt } from 'node:crypto';
import type { Endpoint } from './wire.js';

export interface Address {
  /** A name or an IP address. */
  readonly host?: string;
  /** The port for reading. */
  readonly port?: number;
  /** The port for reading and writing. */
  readonly portWr?: number;
  /** Unix sockets in place of host and ports. */
  readonly socket?: string;
  readonly socketWr?: string;
}

export type Port = 'read' | 'write';
export type ReadFrom = 'writer' | 'any' | 'replicas';

/** Where to connect. Without a port for reading, finds go to the port for writing. */
export function endpointOf(address: Address, port: Port): Endpoint | null {
  const path = port === 'write' ? address.socketWr : (address.socket ?? address.socketWr);
  if (path !== undefined) return { path };
  const number = port === 'write' ? address.portWr : (address.port ?? address.portWr);
  return address.host === undefined || number === undefined ? null : { host: address.host, port: number };
}

export function endpointName(endpoint: Endpoint): string {
  if ('path' in endpoint) return endpoint.path;
  return `${endpoint.host.includes(':') ? `[${endpoint.host}]` : endpoint.host}:${endpoint.port}`;
}

export class Addresses {
  private current = 0;
  private reader: number;

  constructor(
    readonly list: readonly Address[],
    private readonly readFrom: ReadFrom,
  ) {
    this.reader = randomInt(list.length);
    if (readFrom === 'replicas' && this.reader === this.current) this.reader = this.next(this.reader);
  }

  get hasWriter(): boolean {
    return this.list.some((address) => endpointOf(address, 'write') !== null);
  }

  get hasReader(): boolean {
    return this.list.some(({ port, socket }) => port !== undefined || socket !== undefined);
  }

  private next(place: number): number {
    return (place + 1) % this.list.length;
  }

  /** Whether finds have an address of their own. */
  private own(port: Port): boolean {
    return port === 'read' && this.readFrom !== 'writer';
  }

  /** Where requests for this port should go. */
  target(port: Port): number {
    return this.own(port) ? this.reader : this.current;
  }

  /** The next to be tried in an attempt, which tries each once; -1 when all have been. */
  pick(port: Port, tried: ReadonlySet<number>): number {
    const own = this.own(port);
    let place = own ? this.reader : this.current;
    // The current address is the last resort of a client that reads from replicas.
    const avoided = own && this.readFrom === 'replicas' ? this.current : -1;
    for (const avoiding of [avoided, -1]) {
      for (let i = 0; i < this.list.length; i++, place = this.next(place)) {
        if (!tried.has(place) && place !== avoiding) return place;
      }
    }
    return -1;
  }

  /** A connection to this address was made. */
  reached(port: Port, place: number): void {
    if (this.own(port)) this.reader = place;
  }

  /** It cannot be reached, or has said that another has to do it. True if requests go elsewhere from now on. */
  failed(port: Port, place: number): boolean {
    if (this.list.length === 1) return false;
    if (this.own(port)) {
      if (this.reader !== place) return false;
      this.reader = this.next(place);
      if (this.readFrom === 'replicas' && this.reader === this.current && this.list.length > 2) this.reader = this.next(this.reader);
      return true;
    }
    if (this.current !== place) return false;
    this.current = this.next(place);
    if (this.readFrom === 'replicas' && this.reader === this.current) this.reader = this.next(this.reader);
    return true;
  }
}
