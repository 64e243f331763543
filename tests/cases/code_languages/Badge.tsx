import React from "react";

type Props = { label: string; onPick: (label: string) => void };

/** A label that can be picked. */
export function Badge({ label, onPick }: Props) {
  const handle = () => onPick(label);
  return <button onClick={handle}>{label}</button>;
}

export const Row = ({ labels }: { labels: string[] }) => (
  <ul>{labels.map((label) => <Badge key={label} label={label} onPick={() => {}} />)}</ul>
);
