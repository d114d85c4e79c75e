/** Rows under columns. On a phone each row is a card with the names of the columns beside its values: nothing scrolls sideways. */
import { Table } from '@mantine/core';
import type { ReactNode } from 'react';

export interface Column<Row> {
  title: string;
  of: (row: Row) => ReactNode;
  /** Breaks inside words too, such as addresses. */
  wraps?: boolean;
  /** Set in type of one width, such as ids. */
  isMono?: boolean;
  /** Readers who see the cells need no title, such as that of buttons. */
  hidesTitle?: boolean;
}

interface DataTableProps<Row> {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Shown above; without one only screen readers are told the label. */
  caption?: ReactNode;
  /** Rows that sum up others. */
  isStrong?: (row: Row) => boolean;
  children?: ReactNode;
}

/** The roles are spelt out, because browsers drop those of a table that is laid out as cards. */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  caption,
  isStrong = () => false,
  children,
}: DataTableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="table" aria-label={label} tabIndex={0}>
      <Table role="table" highlightOnHover captionSide="top">
        {caption !== undefined && <Table.Caption>{caption}</Table.Caption>}
        <Table.Thead role="rowgroup">
          <Table.Tr role="row">
            {columns.map(({ title, hidesTitle = false }) => (
              <Table.Th key={title} role="columnheader">
                <span className={hidesTitle ? 'visually-hidden' : ''}>{title}</span>
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody role="rowgroup">
          {rows.map((row) => (
            <Table.Tr key={keyOf(row)} role="row" fw={isStrong(row) ? 600 : undefined}>
              {columns.map(({ title, of, wraps = false, isMono = false, hidesTitle = false }) => (
                <Table.Td
                  key={title}
                  role="cell"
                  data-title={hidesTitle ? undefined : title}
                  className={`${wraps ? 'wraps' : ''} ${isMono ? 'mono' : ''}`}
                >
                  <div>{of(row)}</div>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {children}
    </section>
  );
}
