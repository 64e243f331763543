"""Every question asked of the database, once each; the comment says what one row means.

Statements on rows of a session have an equality on rag_session_id. The search statement is composed in
`retrieval_statement.py` from the fragments below; nothing else is composed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import LiteralString

# --- sessions ----------------------------------------------------------------------------------------------------

# One row: a session, by its name or id (listing of sessions: no session is known yet).
SESSION_BY_NAME: LiteralString = """
SELECT rag_session_id, name, project_id, root, revision, commit_sha, embedder, dims, analysis_version,
       pipeline_version, indexed_at
FROM rag_session WHERE name = %(name)s OR rag_session_id = %(name)s
ORDER BY rag_session_id = %(name)s DESC LIMIT 1"""

# One row: a session (listing of sessions).
SESSIONS: LiteralString = """
SELECT rag_session_id, name, project_id, root, revision, commit_sha, embedder, dims, analysis_version,
       pipeline_version, indexed_at
FROM rag_session ORDER BY name"""

INSERT_SESSION: LiteralString = """
INSERT INTO rag_session (rag_session_id, name, project_id) VALUES (%(session)s, %(name)s, %(project_id)s)
ON CONFLICT (name) DO NOTHING"""

RENAME_SESSION: LiteralString = """
UPDATE rag_session SET name = %(name)s WHERE rag_session_id = %(session)s"""
# Rows of every other table go with it.
DELETE_SESSION: LiteralString = "DELETE FROM rag_session WHERE rag_session_id = %(session)s"

# One row: how many rows of a layer the session shows.
LAYER_ROWS: LiteralString = """
SELECT layer, sum(rows)::bigint FROM rag_term
WHERE rag_session_id = %(session)s AND term = 0 AND revision <= %(revision)s
GROUP BY layer HAVING sum(rows) > 0 ORDER BY layer"""

# One row: in how many rows of the asked layers a word stands (term 0: how many rows there are).
TERM_ROWS: LiteralString = """
SELECT term, sum(rows)::bigint FROM rag_term
WHERE rag_session_id = %(session)s AND term = ANY(%(terms)s) AND layer = ANY(%(layers)s) AND revision <= %(revision)s
GROUP BY term HAVING sum(rows) > 0"""

# One row: a name of the catalog.
CATALOG: LiteralString = """
SELECT c.kind, c.name, c.target, f.path AS source_path, c.declared
FROM rag_catalog c JOIN rag_file f USING (rag_session_id, file_id)
WHERE c.rag_session_id = %(session)s AND c.revision <= %(revision)s
ORDER BY f.path, c.entry_no"""

# One row: a programming language of the session's code.
CODE_LANGUAGES: LiteralString = """
SELECT DISTINCT code_language FROM rag_posting
WHERE rag_session_id = %(session)s AND revision <= %(revision)s AND code_language IS NOT NULL"""

# --- files and rows ----------------------------------------------------------------------------------------------

# One row: a version of a file, shown or staged.
FILES: LiteralString = """
SELECT file_id, revision, path, blob_sha, size, mtime_ns, embedder, pipeline_version, link_digest
FROM rag_file WHERE rag_session_id = %(session)s ORDER BY path, revision"""

# One row: what a file says to the link step.
LINK_PARTS: LiteralString = """
SELECT path, link_part FROM rag_file WHERE rag_session_id = %(session)s AND file_id = ANY(%(files)s)"""

FILE_IDS: LiteralString = "SELECT nextval('rag_file_id_seq') FROM generate_series(1, %(count)s)"

COPY_FILES: LiteralString = """
COPY rag_file (rag_session_id, file_id, revision, path, blob_sha, size, mtime_ns, family, embedder, pipeline_version,
               warnings, link_part, link_digest) FROM STDIN WITH (FORMAT BINARY)"""
COPY_DOCUMENTS: LiteralString = """
COPY rag_document (rag_session_id, file_id, row_no, layer, public_id, title, text, line_start, line_end, names,
                   embedded_sha, metadata_json) FROM STDIN WITH (FORMAT BINARY)"""
COPY_POSTINGS: LiteralString = """
COPY rag_posting (rag_session_id, file_id, row_no, layer, revision, path, title, domain, subdomain, lang,
                  code_language, is_test, line_start, line_end, content_hash, terms, weights)
FROM STDIN WITH (FORMAT BINARY)"""
COPY_VECTORS: LiteralString = """
COPY rag_vector (rag_session_id, file_id, row_no, layer, revision, path, title, domain, subdomain, code_language,
                 is_test, embedding) FROM STDIN WITH (FORMAT BINARY)"""
COPY_CATALOG: LiteralString = """
COPY rag_catalog (rag_session_id, file_id, entry_no, revision, kind, name, target, declared)
FROM STDIN WITH (FORMAT BINARY)"""

# Rows of the other tables go with their file.
DELETE_FILES: LiteralString = "DELETE FROM rag_file WHERE rag_session_id = %(session)s AND file_id = ANY(%(files)s)"

# The new size and time of files whose content stayed.
TOUCH_FILES: LiteralString = """
UPDATE rag_file f SET size = t.size, mtime_ns = t.mtime_ns
FROM unnest(%(files)s::bigint[], %(sizes)s::bigint[], %(times)s::bigint[]) AS t(file_id, size, mtime_ns)
WHERE f.rag_session_id = %(session)s AND f.file_id = t.file_id"""

# For one transaction: counting the words of a large job would else spill to the disk.
MORE_WORK_MEMORY: LiteralString = "SET LOCAL work_mem = '128MB'"

DELETE_STAGED_TERMS: LiteralString = """
DELETE FROM rag_term WHERE rag_session_id = %(session)s AND revision > %(revision)s"""

# One row: how many more rows of a layer hold a word, once the staged files stand and the obsolete ones are gone. Marks
# are odd and not counted.
STAGE_TERMS: LiteralString = """
INSERT INTO rag_term (rag_session_id, term, layer, revision, rows)
SELECT %(session)s, term, layer, %(staging)s, sum(n) FROM (
    SELECT layer, unnest(terms || 0::bigint) AS term, 1 AS n FROM rag_posting
    WHERE rag_session_id = %(session)s AND revision = %(staging)s
    UNION ALL
    SELECT layer, unnest(terms || 0::bigint), -1 FROM rag_posting
    WHERE rag_session_id = %(session)s AND file_id = ANY(%(obsolete)s)
) AS change WHERE term & 1 = 0 GROUP BY term, layer HAVING sum(n) <> 0"""

SWAP_REVISION: LiteralString = """
UPDATE rag_session
SET revision = %(staging)s, root = %(root)s, commit_sha = %(commit_sha)s, embedder = %(embedder)s, dims = %(dims)s,
    analysis_version = %(analysis_version)s, pipeline_version = %(pipeline_version)s, indexed_at = now()
WHERE rag_session_id = %(session)s AND revision = %(staging)s - 1"""

# The log of word counts up to a revision, as one row a word.
COMPACT_TERMS: LiteralString = """
WITH log AS (
    DELETE FROM rag_term WHERE rag_session_id = %(session)s AND revision <= %(revision)s
    RETURNING term, layer, rows
)
INSERT INTO rag_term (rag_session_id, term, layer, revision, rows)
SELECT %(session)s, term, layer, %(revision)s, sum(rows) FROM log GROUP BY term, layer HAVING sum(rows) <> 0"""

SETTLE_POSTINGS: LiteralString = "SELECT gin_clean_pending_list('rag_posting_terms')"
ANALYZE_TABLES: LiteralString = "ANALYZE rag_file, rag_document, rag_posting, rag_vector, rag_term"

# One row: what is shown of an answer's row.
DOCUMENT_ROWS: LiteralString = """
SELECT d.file_id, d.row_no, d.layer, f.path, d.public_id, d.title, d.text, d.line_start, d.line_end, d.metadata_json,
       d.embedded_sha IS NOT NULL AS has_vector
FROM unnest(%(files)s::bigint[], %(rows)s::int[]) AS wanted(file_id, row_no)
JOIN rag_document d ON d.rag_session_id = %(session)s AND d.file_id = wanted.file_id AND d.row_no = wanted.row_no
JOIN rag_file f ON f.rag_session_id = %(session)s AND f.file_id = d.file_id"""

# One row: the public id of a candidate that is not shown.
PUBLIC_IDS: LiteralString = """
SELECT d.file_id, d.row_no, d.public_id
FROM unnest(%(files)s::bigint[], %(rows)s::int[]) AS wanted(file_id, row_no)
JOIN rag_document d ON d.rag_session_id = %(session)s AND d.file_id = wanted.file_id AND d.row_no = wanted.row_no"""

# One row: a shown row of one file, in the order of layer and place.
ROWS_OF_FILE: LiteralString = """
SELECT d.file_id, d.row_no, d.layer, f.path, d.public_id, d.title, d.text, d.line_start, d.line_end, d.metadata_json,
       d.embedded_sha IS NOT NULL AS has_vector
FROM rag_file f JOIN rag_document d USING (rag_session_id, file_id)
WHERE f.rag_session_id = %(session)s AND f.path = %(path)s AND f.revision <= %(revision)s
ORDER BY d.layer, d.row_no"""

# One row: a shown row of a file, without its text.
ROWS_OF_PATHS: LiteralString = """
SELECT f.path, d.public_id, d.layer, d.line_start, d.line_end
FROM rag_file f JOIN rag_document d USING (rag_session_id, file_id)
WHERE f.rag_session_id = %(session)s AND f.path = ANY(%(paths)s) AND f.revision <= %(revision)s
ORDER BY f.path, d.row_no"""

# One row: the content of a shown file.
SHOWN_BLOBS: LiteralString = """
SELECT path, blob_sha FROM rag_file WHERE rag_session_id = %(session)s AND revision <= %(revision)s
ORDER BY path COLLATE "C"
"""

# --- caches ------------------------------------------------------------------------------------------------------

# One row: what a file of this content and path gave before.
CACHED_EXTRACTIONS: LiteralString = """
SELECT c.blob_sha, c.path, c.extraction
FROM unnest(%(blobs)s::text[], %(paths)s::text[]) AS wanted(blob_sha, path)
JOIN rag_extraction_cache c USING (blob_sha, path) WHERE c.pipeline_version = %(version)s"""

MAKE_NEW_EXTRACTIONS: LiteralString = """
CREATE TEMPORARY TABLE new_extraction (blob_sha text, path text, extraction bytea) ON COMMIT DROP"""
COPY_NEW_EXTRACTIONS: LiteralString = """
COPY new_extraction (blob_sha, path, extraction) FROM STDIN WITH (FORMAT BINARY)"""
KEEP_EXTRACTIONS: LiteralString = """
INSERT INTO rag_extraction_cache (blob_sha, path, pipeline_version, extraction)
SELECT blob_sha, path, %(version)s, extraction FROM new_extraction ON CONFLICT DO NOTHING"""

# One row: the vector of a text that was embedded before.
CACHED_VECTORS: LiteralString = """
SELECT embedded_sha, embedding FROM rag_vector_cache
WHERE embedder = %(embedder)s AND embedded_sha = ANY(%(shas)s)"""

MAKE_NEW_VECTORS: LiteralString = """
CREATE TEMPORARY TABLE new_vector (embedded_sha bytea, embedding halfvec) ON COMMIT DROP"""
COPY_NEW_VECTORS: LiteralString = "COPY new_vector (embedded_sha, embedding) FROM STDIN WITH (FORMAT BINARY)"
KEEP_VECTORS: LiteralString = """
INSERT INTO rag_vector_cache (embedded_sha, embedder, embedding)
SELECT embedded_sha, %(embedder)s, embedding FROM new_vector ON CONFLICT DO NOTHING"""

# What is used is marked so once a day: the caches give up what was not used longest.
USE_EXTRACTIONS: LiteralString = """
UPDATE rag_extraction_cache c SET used_at = now()
FROM unnest(%(blobs)s::text[], %(paths)s::text[]) AS used(blob_sha, path)
WHERE c.blob_sha = used.blob_sha AND c.path = used.path AND c.pipeline_version = %(version)s
  AND c.used_at < now() - interval '1 day'"""
USE_VECTORS: LiteralString = """
UPDATE rag_vector_cache SET used_at = now()
WHERE embedder = %(embedder)s AND embedded_sha = ANY(%(shas)s) AND used_at < now() - interval '1 day'"""

# One row: entries, and bytes of their values (raw: no value is read for it).
EXTRACTION_CACHE_SIZE: LiteralString = """
SELECT count(*), coalesce(sum(octet_length(extraction)), 0)::bigint FROM rag_extraction_cache"""
VECTOR_CACHE_SIZE: LiteralString = """
SELECT count(*), coalesce(sum(pg_column_size(embedding) + octet_length(embedded_sha)), 0)::bigint
FROM rag_vector_cache"""

TRIM_EXTRACTIONS: LiteralString = """
DELETE FROM rag_extraction_cache WHERE (blob_sha, path, pipeline_version) IN (
    SELECT blob_sha, path, pipeline_version FROM rag_extraction_cache
    ORDER BY used_at, blob_sha, path, pipeline_version LIMIT %(count)s)"""
TRIM_VECTORS: LiteralString = """
DELETE FROM rag_vector_cache WHERE (embedded_sha, embedder) IN (
    SELECT embedded_sha, embedder FROM rag_vector_cache ORDER BY used_at, embedded_sha, embedder LIMIT %(count)s)"""

# --- the database itself -----------------------------------------------------------------------------------------

# One row: the database (no session is asked for).
STATUS: LiteralString = """
SELECT current_setting('server_version'),
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       pg_database_size(current_database()),
       (SELECT count(*) FROM rag_session),
       (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
       (SELECT coalesce(max(version), 0) FROM rag_schema_version)"""

# One row: a table of ragkit and its bytes on disk.
TABLE_SIZES: LiteralString = """
SELECT c.relname, pg_total_relation_size(c.oid) AS bytes FROM pg_class c
WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'rag\\_%%' AND c.relnamespace = current_schema()::regnamespace
ORDER BY bytes DESC, c.relname"""

# One row: how many jobs say that they are in a state (over all sessions).
JOBS_BY_STATUS: LiteralString = "SELECT status, count(*) FROM rag_index_job GROUP BY status ORDER BY status"

# --- jobs and requests -------------------------------------------------------------------------------------------

INSERT_JOB: LiteralString = """
INSERT INTO rag_index_job (rag_session_id, index_job_id, kind, status, root, request, held)
VALUES (%(session)s, %(job)s, %(kind)s, 'queued', %(root)s, %(request)s, %(held)s)"""

UPDATE_JOB: LiteralString = """
UPDATE rag_index_job
SET status = %(status)s, stage = %(stage)s, revision = %(revision)s, files = %(files)s, rows_written = %(rows_written)s,
    texts_embedded = %(texts_embedded)s, warnings = %(warnings)s, error = %(error)s, timings = %(timings)s,
    progress = %(progress)s, updated_at = now()
WHERE rag_session_id = %(session)s AND index_job_id = %(job)s
RETURNING is_cancelled"""

# One row: a job of a session, the newest first. One that a process should hold and none does was killed.
JOBS: LiteralString = """
SELECT index_job_id, rag_session_id, kind, CASE WHEN is_dead THEN 'failed' ELSE status END AS status, stage, revision,
       files, rows_written, texts_embedded, warnings, CASE WHEN is_dead THEN %(killed)s ELSE error END AS error,
       timings, root, request, progress, created_at, updated_at
FROM (
    SELECT j.*, j.held AND j.status IN ('queued', 'running') AND NOT EXISTS (
        SELECT 1 FROM pg_locks l
        WHERE l.locktype = 'advisory' AND l.classid = 7264719
          AND l.objid::bigint = hashtext(j.index_job_id)::bigint & 4294967295) AS is_dead
    FROM rag_index_job j
    WHERE j.rag_session_id = %(session)s AND (%(job)s::text IS NULL OR j.index_job_id = %(job)s)
) AS job ORDER BY created_at DESC, index_job_id LIMIT %(limit)s"""

# One row: a job that says it runs although nobody held the session's lock.
FAIL_DEAD_JOBS: LiteralString = """
UPDATE rag_index_job SET status = 'failed', error = %(error)s, updated_at = now()
WHERE rag_session_id = %(session)s AND status = 'running'
RETURNING index_job_id"""

# One row: the session of a job, by its id or the beginning of it (listing of jobs: no session is known yet).
SESSION_OF_JOB: LiteralString = """
SELECT rag_session_id, index_job_id FROM rag_index_job WHERE starts_with(index_job_id, %(job)s) LIMIT 2"""

TAKE_JOB: LiteralString = """
UPDATE rag_index_job SET held = true, updated_at = now()
WHERE rag_session_id = %(session)s AND index_job_id = %(job)s AND status = 'queued' AND NOT held"""

CANCEL_JOB: LiteralString = """
UPDATE rag_index_job
SET is_cancelled = true, status = CASE WHEN status = 'queued' AND NOT held THEN 'cancelled' ELSE status END,
    updated_at = now()
WHERE rag_session_id = %(session)s AND index_job_id = %(job)s AND status IN ('queued', 'running')"""

JOB_IS_CANCELLED: LiteralString = """
SELECT is_cancelled FROM rag_index_job WHERE rag_session_id = %(session)s AND index_job_id = %(job)s"""

# Held by the process that waits with a job or runs it: whoever finds it free knows that the process is gone.
HOLD_JOB: LiteralString = "SELECT pg_advisory_lock(7264719, hashtext(%(job)s))"

# Held, shared, by each transaction that writes for a job; taken alone it waits for the last of them.
FENCE_SHARED: LiteralString = "SELECT pg_advisory_xact_lock_shared(7264718, hashtext(%(job)s))"
FENCE_ALONE: LiteralString = """
SELECT pg_advisory_lock(7264718, hashtext(%(job)s)), pg_advisory_unlock(7264718, hashtext(%(job)s))"""
JOB_RUNS: LiteralString = """
SELECT 1 FROM rag_index_job WHERE rag_session_id = %(session)s AND index_job_id = %(job)s AND status = 'running'"""

# One row: true when the session's writer lock was free. Two integers: ragkit's own space, and the session.
TRY_SESSION_LOCK: LiteralString = "SELECT pg_try_advisory_lock(7264717, hashtext(%(session)s))"
SESSION_LOCK: LiteralString = "SELECT pg_advisory_lock(7264717, hashtext(%(session)s))"

INSERT_REQUEST: LiteralString = """
INSERT INTO rag_request (rag_session_id, request_id, query, contract, plans, result_ids, timings)
VALUES (%(session)s, %(request)s, %(query)s, %(contract)s, %(plans)s, %(result_ids)s, %(timings)s)"""

BOUND_REQUESTS: LiteralString = """
DELETE FROM rag_request WHERE rag_session_id = %(session)s AND request_id IN (
    SELECT request_id FROM rag_request WHERE rag_session_id = %(session)s
    ORDER BY asked_at DESC, request_id OFFSET %(keep)s)"""

# --- the search: fragments of RetrievalStatementBuilder ------------------------------------------------------------

HARD_FILTERS: Mapping[str, LiteralString] = {
    "path_prefixes": "r.path LIKE ANY (%(path_prefixes)s::text[])",
    "exclude_path_prefixes": "NOT r.path LIKE ANY (%(exclude_path_prefixes)s::text[])",
    "exclude_like_patterns": (
        "NOT (r.path LIKE ANY (%(exclude_like_patterns)s::text[])"
        " OR r.title LIKE ANY (%(exclude_like_patterns)s::text[]))"
    ),
    "metadata_domain": "r.domain = %(metadata_domain)s",
    "metadata_subdomain": "r.subdomain = %(metadata_subdomain)s",
    "language": "r.code_language = ANY (%(language)s::text[])",
    "tests_excluded": "NOT r.is_test",
    "tests_only": "r.is_test",
}
"""Field → predicate. `r.domain` and `r.subdomain` equal `lower(metadata_json->>…)` of the row (POLICY §11)."""

# One row: a layer that is asked, and how many candidates it gives.
ASKED: LiteralString = "asked AS (SELECT * FROM unnest(%(layers)s::text[], %(depths)s::int[]) AS a(layer, depth))"

# One row: a place in the dense leg. Exact scan, so ties may break inside.
DENSE_LEG: LiteralString = """
dense AS MATERIALIZED (
    SELECT near.file_id, near.row_no, near.rank FROM asked CROSS JOIN LATERAL (
        SELECT r.file_id, r.row_no,
               row_number() OVER (ORDER BY r.embedding <#> %(vector)s, r.path, r.row_no) AS rank
        FROM rag_vector r
        WHERE r.rag_session_id = %(session)s AND r.layer = asked.layer AND r.revision <= %(revision)s{filters}
        ORDER BY r.embedding <#> %(vector)s, r.path, r.row_no LIMIT asked.depth
    ) AS near
)"""

# One row: a place in the lexical leg.
LEXICAL_LEG: LiteralString = """
lexical AS MATERIALIZED (
    SELECT file_id, row_no, rank FROM (
        SELECT r.file_id, r.row_no, r.layer, row_number() OVER (
            PARTITION BY r.layer ORDER BY r.weights <#> %(idf)s, r.path, r.line_start, r.row_no) AS rank
        FROM rag_posting r
        WHERE r.rag_session_id = %(session)s AND r.layer = ANY (%(layers)s) AND r.revision <= %(revision)s
          AND r.terms && %(finding)s::bigint[]{filters}
    ) AS found JOIN asked USING (layer) WHERE rank <= depth
)"""

# One row: a place in the leg of names and paths that the query gives.
NAMED_LEG: LiteralString = """
named AS MATERIALIZED (
    SELECT file_id, row_no, rank FROM (
        SELECT r.file_id, r.row_no, r.layer, row_number() OVER (
            PARTITION BY r.layer ORDER BY r.terms && %(names)s::bigint[] DESC, r.weights <#> %(idf)s, r.path,
            r.line_start, r.row_no) AS rank
        FROM rag_posting r
        WHERE r.rag_session_id = %(session)s AND r.layer = ANY (%(layers)s) AND r.revision <= %(revision)s
          AND r.terms && (%(names)s::bigint[] || %(paths)s::bigint[]){filters}
    ) AS found JOIN asked USING (layer) WHERE rank <= depth
)"""

# One row: a row that points to one of the nodes; the nearest to the query's words of each layer.
GRAPH_LEG: LiteralString = """
named AS MATERIALIZED (
    SELECT file_id, row_no, rank FROM (
        SELECT r.file_id, r.row_no, r.layer, row_number() OVER (
            PARTITION BY r.layer ORDER BY r.weights <#> %(idf)s, r.path, r.line_start, r.row_no) AS rank
        FROM rag_posting r
        WHERE r.rag_session_id = %(session)s AND r.layer = ANY (%(layers)s) AND r.revision <= %(revision)s
          AND r.terms && %(nodes)s::bigint[]{filters}
    ) AS found JOIN asked USING (layer) WHERE rank <= depth
)"""

# One row: a row of a file that the plan names; rows of the plan's layers come first.
EXACT_FILES: LiteralString = """
named AS MATERIALIZED (
    SELECT file_id, row_no, rank FROM (
        SELECT r.file_id, r.row_no, row_number() OVER (
            PARTITION BY r.file_id ORDER BY r.layer = ANY (%(layers)s) DESC, r.weights <#> %(idf)s, r.row_no) AS rank
        FROM rag_file f JOIN rag_posting r USING (rag_session_id, file_id)
        WHERE r.rag_session_id = %(session)s AND r.revision <= %(revision)s
          AND f.path = ANY (%(hints)s::text[]){filters}
    ) AS found WHERE rank <= %(rows_per_file)s
)"""

# One row: a row of a file whose path holds a missing hint.
PATH_SUBSTRINGS: LiteralString = """
named AS MATERIALIZED (
    SELECT file_id, row_no, rank FROM (
        SELECT r.file_id, r.row_no, row_number() OVER (
            PARTITION BY r.file_id ORDER BY r.layer = ANY (%(layers)s) DESC, r.weights <#> %(idf)s, r.row_no) AS rank
        FROM rag_file f JOIN rag_posting r USING (rag_session_id, file_id)
        WHERE r.rag_session_id = %(session)s AND r.revision <= %(revision)s
          AND f.file_id IN (
              SELECT file_id FROM rag_file WHERE rag_session_id = %(session)s AND revision <= %(revision)s
                AND lower(path) LIKE ANY (%(hints)s::text[])
              ORDER BY length(path), path LIMIT %(files_at_most)s){filters}
    ) AS found WHERE rank <= %(rows_per_file)s
)"""

NO_DENSE: LiteralString = "dense AS (SELECT 0::bigint AS file_id, 0 AS row_no, 0::bigint AS rank WHERE false)"
NO_LEXICAL: LiteralString = "lexical AS (SELECT 0::bigint AS file_id, 0 AS row_no, 0::bigint AS rank WHERE false)"
NO_NAMED: LiteralString = "named AS (SELECT 0::bigint AS file_id, 0 AS row_no, 0::bigint AS rank WHERE false)"

# One row: a row that some leg found, with its place in each.
POOL: LiteralString = """
, pool AS (
    SELECT file_id, row_no, max(dense_rank) AS dense_rank, max(lexical_rank) AS lexical_rank,
           max(named_rank) AS named_rank
    FROM (
        SELECT file_id, row_no, rank AS dense_rank, NULL::bigint AS lexical_rank, NULL::bigint AS named_rank FROM dense
        UNION ALL SELECT file_id, row_no, NULL, rank, NULL FROM lexical
        UNION ALL SELECT file_id, row_no, NULL, NULL, rank FROM named
    ) AS legs GROUP BY file_id, row_no
)"""

# One row: a row of the asked layers in one of the probed files, with its place in each leg; no leg need have found it.
PROBED: LiteralString = """
, pool AS (
    SELECT p.file_id, p.row_no, dense.rank AS dense_rank, lexical.rank AS lexical_rank, named.rank AS named_rank
    FROM rag_posting p
    LEFT JOIN dense USING (file_id, row_no) LEFT JOIN lexical USING (file_id, row_no)
    LEFT JOIN named USING (file_id, row_no)
    WHERE p.rag_session_id = %(session)s AND p.file_id = ANY (%(files)s::bigint[]) AND p.layer = ANY (%(layers)s)
      AND p.revision <= %(revision)s
)"""

# One row: a candidate with both legs' scores, whichever leg found it.
CANDIDATES: LiteralString = """
SELECT r.file_id, r.row_no, r.layer, r.path, r.domain, r.lang, r.is_test, r.line_start, r.line_end, r.content_hash,
       {cosine} AS cosine,
       coalesce(-(r.weights <#> %(idf)s), 0) AS bm25,
       pool.dense_rank, pool.lexical_rank, pool.named_rank,
       r.terms && %(paths)s::bigint[] AS path_named,
       r.terms && %(names)s::bigint[] AS name_defined,
       (SELECT min(n.place)::int FROM unnest(%(nodes)s::bigint[]) WITH ORDINALITY AS n(node, place)
        WHERE r.terms && ARRAY[n.node]) AS graph_place,
       (SELECT min(p.place) FROM unnest(%(prefer_path_prefixes)s::text[]) WITH ORDINALITY AS p(prefix, place)
        WHERE r.path LIKE p.prefix) AS prefer_path,
       coalesce(r.path LIKE ANY (%(prefer_like_patterns)s::text[])
                OR r.title LIKE ANY (%(prefer_like_patterns)s::text[]), false) AS prefer_like{further}
FROM pool
JOIN rag_posting r ON r.rag_session_id = %(session)s AND r.file_id = pool.file_id AND r.row_no = pool.row_no
LEFT JOIN rag_vector v ON v.rag_session_id = %(session)s AND v.file_id = pool.file_id AND v.row_no = pool.row_no
ORDER BY r.path, r.layer, r.line_start, r.row_no"""

COSINE: LiteralString = "-(v.embedding <#> %(vector)s)"
NO_COSINE: LiteralString = "NULL::float8"

# --- what is asked of one document, or of a plan, when it is to be explained -----------------------------------------

# One row: a shown row of a file, and whether the index holds all of it that it should.
ITEM_ROWS: LiteralString = """
SELECT d.file_id, d.row_no, d.layer, f.path, d.public_id, d.line_start, d.line_end,
       d.embedded_sha IS NOT NULL AS embedded, v.file_id IS NOT NULL AS has_vector, p.file_id IS NOT NULL AS has_words
FROM rag_file f
JOIN rag_document d ON d.rag_session_id = %(session)s AND d.file_id = f.file_id
LEFT JOIN rag_vector v ON v.rag_session_id = %(session)s AND v.file_id = d.file_id AND v.row_no = d.row_no
LEFT JOIN rag_posting p ON p.rag_session_id = %(session)s AND p.file_id = d.file_id AND p.row_no = d.row_no
WHERE f.rag_session_id = %(session)s AND f.path = ANY (%(paths)s) AND f.revision <= %(revision)s
ORDER BY f.path, d.row_no"""

# One row: an indexed file with one of these paths, or whose path ends as one of them does.
FILES_LIKE: LiteralString = """
SELECT path FROM rag_file
WHERE rag_session_id = %(session)s AND revision <= %(revision)s
  AND (path = ANY (%(paths)s) OR lower(path) LIKE ANY (%(endings)s::text[]))
ORDER BY length(path), path COLLATE "C" LIMIT %(limit)s"""

# One row: the counts of a job that was done, the newest first.
DONE_JOBS: LiteralString = """
SELECT kind, files FROM rag_index_job WHERE rag_session_id = %(session)s AND status = 'done'
ORDER BY created_at DESC, index_job_id LIMIT %(limit)s"""

# One row: how many rows of a plan's layers there are, pass each hard filter alone, and pass it and all before it.
FILTERED_ROWS: LiteralString = """
SELECT count(*), ARRAY[{alone}]::bigint[], ARRAY[{cumulative}]::bigint[]
FROM rag_posting r
WHERE r.rag_session_id = %(session)s AND r.layer = ANY (%(layers)s) AND r.revision <= %(revision)s"""
COUNT_WHERE: LiteralString = "count(*) FILTER (WHERE {predicate})"
PASSES: LiteralString = ", ARRAY[{predicates}]::boolean[] AS passes"
EXPLAIN: LiteralString = "EXPLAIN (ANALYZE, BUFFERS) "

SOFT_FILTERS: Mapping[str, LiteralString] = {
    "prefer_path_prefixes": "r.path LIKE ANY (%(prefer_path_prefixes)s::text[])",
    "prefer_like_patterns": (
        "r.path LIKE ANY (%(prefer_like_patterns)s::text[]) OR r.title LIKE ANY (%(prefer_like_patterns)s::text[])"
    ),
    "prefer_non_tests": "NOT r.is_test",
}
"""Preference → what a preferred row satisfies; shown to people, while `CANDIDATES` computes it."""
