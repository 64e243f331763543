-- The index. Every row of a session is reached by rag_session_id first: each primary, unique and foreign key of such
-- a table starts with it, so that the schema can be distributed by it without a change.
--
-- Revisions. A job writes under revision = session.revision + 1, where readers do not look (they ask for revision <=
-- the session's own), and one short transaction raises session.revision and deletes what it replaced. Document
-- frequencies are a log of differences for the same reason: what a job adds and takes away is written before the swap.

CREATE TABLE rag_session (
    rag_session_id   text PRIMARY KEY,
    name             text NOT NULL,
    project_id       text NOT NULL,
    root             text,                       -- folder that was indexed last
    revision         bigint NOT NULL DEFAULT 0,  -- 0: nothing indexed yet
    commit_sha       text,                       -- of the revision
    embedder         text,                       -- fingerprint; one session, one embedder
    dims             integer,
    analysis_version integer,                    -- of the words in rag_posting
    pipeline_version text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    indexed_at       timestamptz
);
CREATE UNIQUE INDEX rag_session_name ON rag_session (name);

CREATE SEQUENCE rag_file_id_seq;

-- One row: one version of one file.
CREATE TABLE rag_file (
    rag_session_id   text NOT NULL REFERENCES rag_session (rag_session_id) ON DELETE CASCADE,
    file_id          bigint NOT NULL,
    revision         bigint NOT NULL,            -- that it appeared in
    path             text NOT NULL,
    blob_sha         text NOT NULL,
    size             bigint NOT NULL,
    mtime_ns         bigint NOT NULL,
    family           text NOT NULL,              -- DOCS or CODE
    embedder         text NOT NULL,
    pipeline_version text NOT NULL,
    warnings         jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (rag_session_id, file_id)
);
CREATE UNIQUE INDEX rag_file_path ON rag_file (rag_session_id, path, revision);

-- One row: one RagDocument (MODULE §3), as shown. Wide; read for the rows of an answer alone.
CREATE TABLE rag_document (
    rag_session_id text NOT NULL,
    file_id        bigint NOT NULL,
    row_no         integer NOT NULL,             -- place in the file's extraction
    layer          text NOT NULL,
    public_id      text NOT NULL,
    title          text NOT NULL,
    text           text NOT NULL,
    line_start     integer NOT NULL,
    line_end       integer NOT NULL,
    names          text[] NOT NULL,
    embedded_sha   bytea,                        -- of the text whose vector the row has; null: no vector
    metadata_json  jsonb NOT NULL,
    domain         text GENERATED ALWAYS AS (lower(metadata_json ->> 'domain')) STORED,
    subdomain      text GENERATED ALWAYS AS (lower(metadata_json ->> 'subdomain')) STORED,
    PRIMARY KEY (rag_session_id, file_id, row_no),
    FOREIGN KEY (rag_session_id, file_id) REFERENCES rag_file (rag_session_id, file_id) ON DELETE CASCADE
);

-- One row: the words of one RagDocument, and all that a candidate is judged by. `terms` are hashes salted by session,
-- for finding (the index is shared by sessions and must not walk other sessions' postings): words as they are, names
-- and path suffixes under marks of their own. `weights` are the BM25 weights of the words, from the row alone.
CREATE TABLE rag_posting (
    rag_session_id text NOT NULL,
    file_id        bigint NOT NULL,
    row_no         integer NOT NULL,
    layer          text NOT NULL,
    revision       bigint NOT NULL,
    path           text NOT NULL,                -- lower-case, as all below
    title          text NOT NULL,
    domain         text,
    subdomain      text,
    lang           text NOT NULL,
    code_language  text,
    is_test        boolean NOT NULL,
    line_start     integer NOT NULL,
    line_end       integer NOT NULL,
    content_hash   bigint NOT NULL,              -- of the shown text: one row a duplicate
    terms          bigint[] NOT NULL,
    weights        sparsevec NOT NULL,
    PRIMARY KEY (rag_session_id, file_id, row_no),
    FOREIGN KEY (rag_session_id, file_id) REFERENCES rag_file (rag_session_id, file_id) ON DELETE CASCADE
);
CREATE INDEX rag_posting_terms ON rag_posting USING gin (terms);

-- One row: the vector of one RagDocument, with the columns that hard filters read. Narrow; scanned exactly.
CREATE TABLE rag_vector (
    rag_session_id text NOT NULL,
    file_id        bigint NOT NULL,
    row_no         integer NOT NULL,
    layer          text NOT NULL,
    revision       bigint NOT NULL,
    path           text NOT NULL,
    title          text NOT NULL,
    domain         text,
    subdomain      text,
    code_language  text,
    is_test        boolean NOT NULL,
    embedding      halfvec NOT NULL,
    PRIMARY KEY (rag_session_id, file_id, row_no),
    FOREIGN KEY (rag_session_id, file_id) REFERENCES rag_file (rag_session_id, file_id) ON DELETE CASCADE
);
CREATE INDEX rag_vector_layer ON rag_vector (rag_session_id, layer);

-- One row: how many more rows of a layer hold a word since a revision (term 0: how many more rows there are).
CREATE TABLE rag_term (
    rag_session_id text NOT NULL REFERENCES rag_session (rag_session_id) ON DELETE CASCADE,
    term           bigint NOT NULL,
    layer          text NOT NULL,
    revision       bigint NOT NULL,
    rows           bigint NOT NULL,
    PRIMARY KEY (rag_session_id, term, layer, revision)
);

-- One row: one name by which a file's content may be called in a question.
CREATE TABLE rag_catalog (
    rag_session_id text NOT NULL,
    file_id        bigint NOT NULL,
    entry_no       integer NOT NULL,
    revision       bigint NOT NULL,
    kind           text NOT NULL,
    name           text NOT NULL,
    target         text NOT NULL,
    declared       boolean NOT NULL,
    PRIMARY KEY (rag_session_id, file_id, entry_no),
    FOREIGN KEY (rag_session_id, file_id) REFERENCES rag_file (rag_session_id, file_id) ON DELETE CASCADE
);

-- One row: one indexing job and the truth about it.
CREATE TABLE rag_index_job (
    rag_session_id text NOT NULL REFERENCES rag_session (rag_session_id) ON DELETE CASCADE,
    index_job_id   text NOT NULL,
    kind           text NOT NULL,                -- snapshot or changes
    status         text NOT NULL,                -- queued, running, done, failed
    stage          text,                         -- what a running job is doing
    revision       bigint,                       -- that it writes or wrote
    files          jsonb NOT NULL DEFAULT '{}',  -- counts
    rows_written   bigint NOT NULL DEFAULT 0,
    texts_embedded bigint NOT NULL DEFAULT 0,
    warnings       jsonb NOT NULL DEFAULT '[]',
    error          jsonb,                        -- {code, params}
    timings        jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT now(),
    updated_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (rag_session_id, index_job_id)
);

-- One row: one question that was asked (MODULE §1), bounded per session.
CREATE TABLE rag_request (
    rag_session_id text NOT NULL REFERENCES rag_session (rag_session_id) ON DELETE CASCADE,
    request_id     text NOT NULL,
    asked_at       timestamptz NOT NULL DEFAULT now(),
    query          text NOT NULL,
    contract       jsonb NOT NULL,
    plans          jsonb NOT NULL,
    result_ids     text[] NOT NULL,
    timings        jsonb NOT NULL,
    PRIMARY KEY (rag_session_id, request_id)
);
CREATE INDEX rag_request_asked ON rag_request (rag_session_id, asked_at);

-- Caches by content, shared by sessions; no reading statement joins them.
CREATE TABLE rag_extraction_cache (
    blob_sha         text NOT NULL,
    path             text NOT NULL,
    pipeline_version text NOT NULL,
    extraction       bytea NOT NULL,
    used_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (blob_sha, path, pipeline_version)
);
CREATE TABLE rag_vector_cache (
    embedded_sha bytea NOT NULL,
    embedder     text NOT NULL,
    embedding    halfvec NOT NULL,
    used_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (embedded_sha, embedder)
);
