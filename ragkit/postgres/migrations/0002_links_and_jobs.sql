-- Links between files, and jobs that can be followed, cancelled and taken up.

-- What the file says to the link step, and the digest of the answers that its rows hold.
ALTER TABLE rag_file ADD COLUMN link_part bytea NOT NULL DEFAULT '';
ALTER TABLE rag_file ADD COLUMN link_digest text NOT NULL DEFAULT '';

-- status: queued, running, done, failed, cancelled.
ALTER TABLE rag_index_job ADD COLUMN root text;                            -- folder that is indexed
ALTER TABLE rag_index_job ADD COLUMN request jsonb NOT NULL DEFAULT '{}';  -- what was asked: revision, deleted paths
ALTER TABLE rag_index_job ADD COLUMN progress jsonb NOT NULL DEFAULT '{}'; -- files done, files in all, seconds
ALTER TABLE rag_index_job ADD COLUMN held boolean NOT NULL DEFAULT true;   -- a process waits with it or runs it
ALTER TABLE rag_index_job ADD COLUMN is_cancelled boolean NOT NULL DEFAULT false; -- somebody asked it to stop
CREATE INDEX rag_index_job_created ON rag_index_job (rag_session_id, created_at);
CREATE INDEX rag_extraction_cache_used ON rag_extraction_cache (used_at);
CREATE INDEX rag_vector_cache_used ON rag_vector_cache (used_at);
