-- Logins and passwords of the processes. Run it with psql after `fair-registry db migrate`,
-- as the same owner; running it again changes the passwords.
--
-- The web tier needs four roles (api, auditor, eraser, labeller) and takes one of them on each connection;
-- NOINHERIT: without taking one it may do nothing. The index builder, the crawler and the
-- publisher log in as their own roles, and so does the process that asks the witnesses.
-- The reporter takes one of two: it reads as the auditor and writes as registry_reporter.
\set ON_ERROR_STOP on
SET client_min_messages = warning;
\getenv web_password WEB_PASSWORD
\getenv ranker_password RANKER_PASSWORD
\getenv crawler_password CRAWLER_PASSWORD
\getenv publisher_password PUBLISHER_PASSWORD
\getenv cosigner_password COSIGNER_PASSWORD
\getenv reporter_password REPORTER_PASSWORD

SELECT 'CREATE ROLE fair_registry_web LOGIN NOINHERIT'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fair_registry_web') \gexec

GRANT registry_api, registry_auditor, registry_eraser, registry_labeller TO fair_registry_web;

SELECT 'CREATE ROLE fair_registry_reporter LOGIN NOINHERIT'
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'fair_registry_reporter') \gexec

GRANT registry_auditor, registry_reporter TO fair_registry_reporter;

ALTER ROLE fair_registry_web PASSWORD :'web_password';
ALTER ROLE registry_ranker PASSWORD :'ranker_password';
ALTER ROLE registry_crawler PASSWORD :'crawler_password';
ALTER ROLE registry_publisher PASSWORD :'publisher_password';
ALTER ROLE registry_cosigner PASSWORD :'cosigner_password';
ALTER ROLE fair_registry_reporter PASSWORD :'reporter_password';
