/* sql/gpubtree--0.1.0--0.2.0.sql */

-- complain if script is sourced in psql, rather than via ALTER EXTENSION
\echo Use "ALTER EXTENSION gpubtree UPDATE" to load this file. \quit

-- What 0.2.0 adds.  CREATE EXTENSION runs 0.1.0's script and then this one, so that what is here
-- stands nowhere else, and who updates gets what a new database has.
