-- Parcels on their way.
CREATE TABLE posterna.parcels (
    id bigint PRIMARY KEY,
    weight numeric NOT NULL,
    CONSTRAINT heavy CHECK (weight < 40)
);

CREATE OR REPLACE VIEW open_parcels AS
SELECT id FROM posterna.parcels;

CREATE UNIQUE INDEX parcels_weight ON posterna.parcels (weight);

/* Sums up. */
CREATE FUNCTION total(a int, b int) RETURNS int AS $$
BEGIN
    RETURN a + b;
END;
$$ LANGUAGE plpgsql;

CREATE TYPE state AS ENUM ('new', 'sent');
ALTER TABLE posterna.parcels ADD COLUMN note text;
INSERT INTO posterna.parcels VALUES (1, 2);
CREATE TRIGGER parcels_audit BEFORE INSERT ON posterna.parcels FOR EACH ROW EXECUTE FUNCTION audit();
